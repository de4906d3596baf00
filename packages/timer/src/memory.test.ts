import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createStatistics } from "./createStatistics.ts";
import { createTimer } from "./createTimer.ts";
import { watchSlowSteps } from "./watchSlowSteps.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

it("holds no more after a million steps than after a thousand", () => {
  let now = 0n;
  const timer = createTimer({ clock: () => (now += 100n) });
  const [fit, part, read] = [timer.section("fit"), timer.section("part"), timer.section("read", { lane: "data" })];
  const statistics = createStatistics(timer);
  watchSlowSteps(timer, () => {});
  const run = (steps: number): number => {
    for (let step = 0; step < steps; step += 1) {
      timer.step(() => {
        fit.start();
        part.lap();
        part.stop();
        fit.stop();
        read.add("bytes", 3);
      });
    }
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = run(1_000);
  const after = run(1_000_000);
  expect(after - before).toBeLessThan(256 * 1024);
  expect(statistics.summary().step.n).toBe(1_001_000);
});
