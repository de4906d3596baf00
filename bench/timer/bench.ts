/** Prints what the timer costs, beside its peers, as Markdown. Each case runs in a process of its own, started from this one. */
import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { createTimer } from "@dflash/timer";
import { type Allocation, measureAllocation } from "./allocation.ts";
import { cases, type SectionCost } from "./cases.ts";
import type { Cost } from "./measure.ts";
import { measureOverhead, type Overhead } from "./overhead.ts";
import { measureShares, type Share } from "./shares.ts";

const others: Readonly<Record<string, () => unknown>> = {
  allocation: measureAllocation,
  overhead: measureOverhead,
  shares: measureShares,
  calibration: () => createTimer().calibration,
};
/** What its peers are compared with. */
const compared = "timer, start and stop";
const [wanted] = process.argv.slice(2);
if (wanted === undefined) report();
else console.log(JSON.stringify(await (cases[wanted] ?? others[wanted]!)()));

function measured(name: string): string {
  return execFileSync(process.execPath, [...process.execArgv, import.meta.filename, name], { encoding: "utf8" });
}

function times(cost: Cost | null): string {
  return cost === null ? "– | –" : `${cost.min.toFixed(1)} | ${cost.median.toFixed(1)}`;
}

function report(): void {
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}, load ${loadavg()[0]!.toFixed(1)}, ${new Date().toISOString().slice(0, 10)}\n`,
  );
  console.log(
    `| ns | hot, min | hot, median | cold, min | cold, median | of ${compared}, hot: min, median |\n| --- | ---: | ---: | ---: | ---: | ---: |`,
  );
  const own: SectionCost = JSON.parse(measured(compared));
  for (const name of Object.keys(cases)) {
    const cost: SectionCost = name === compared ? own : JSON.parse(measured(name));
    const ratio = (of: keyof Cost): string => (cost.hot[of] / own.hot[of]).toFixed(2);
    console.log(`| ${name} | ${times(cost.hot)} | ${times(cost.cold)} | ${ratio("min")}, ${ratio("median")} |`);
  }
  const allocation: Allocation = JSON.parse(measured("allocation"));
  console.log(
    `\nAllocated: ${allocation.perSection.toFixed(2)} B a section, ${allocation.perStep.toFixed(2)} B a step. Held by 32 sections with their histograms: ${(allocation.timer / 1024).toFixed(0)} KiB.`,
  );
  const calibration: Record<string, number> = JSON.parse(measured("calibration"));
  console.log(
    `Calibration: ${Object.entries(calibration)
      .map(([name, value]) => `${name} ${value.toFixed(0)}`)
      .join(", ")}.`,
  );
  const overhead: Overhead = JSON.parse(measured("overhead"));
  console.log(
    `Overhead in a ${(overhead.stepUs / 1000).toFixed(2)} ms step of 24 sections: told ${overhead.told.toFixed(1)} µs, on against off ${overhead.measured.toFixed(1)} µs (${((100 * overhead.told) / overhead.measured - 100).toFixed(0)} %).`,
  );
  console.log("\n| section | share by the timer | share by V8's samples |\n| --- | ---: | ---: |");
  const shares: Share[] = JSON.parse(measured("shares"));
  for (const { section, timer, profile } of shares)
    console.log(`| ${section} | ${(100 * timer).toFixed(1)} % | ${(100 * profile).toFixed(1)} % |`);
}
