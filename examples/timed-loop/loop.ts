// Where the time of a plain loop goes: node loop.ts
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createTimer } from "@dflash/timer";
import { createStatistics } from "@dflash/timer/statistics";
import { createJudge } from "@dflash/timer/verdict";

const timer = createTimer();
const make = timer.section("make", { role: "data" });
const compress = timer.section("compress");
const statistics = createStatistics(timer);
const judge = createJudge(timer);
timer.on("report", (report) => console.log(String(report)));

for (let step = 0; step < 20; step++) {
  await timer.step(async () => {
    const text = make.time(() => Array.from({ length: 20_000 }, (_, i) => `${i * i + step}`).join("\n"));
    compress.add("bytes", text.length);
    await compress.time(() => promisify(gzip)(text));
  });
}

for (const [name, { p50Ms, p99Ms }] of Object.entries(statistics.summary().sections)) {
  console.log(`${name}: median ${p50Ms?.toFixed(2)} ms, 99th percentile ${p99Ms?.toFixed(2)} ms`);
}
console.log(judge.verdict());
