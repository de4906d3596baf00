/** Prints what the timer costs, beside its peers, as Markdown. Each case runs in a process of its own, started from this one. */
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
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
const [wanted] = process.argv.slice(2);
if (wanted === undefined) report();
else console.log(JSON.stringify(await (cases[wanted] ?? others[wanted]!)()));

function measured<T>(name: string): T {
  const output = execFileSync(process.execPath, [...process.execArgv, import.meta.filename, name], {
    encoding: "utf8",
  });
  return JSON.parse(output) as T;
}

function report(): void {
  const ns = (cost: Cost | null): string =>
    cost === null ? "– | –" : `${cost.min.toFixed(1)} | ${cost.median.toFixed(1)}`;
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}, ${new Date().toISOString().slice(0, 10)}\n`,
  );
  console.log(
    "| a section, ns | hot, min | hot, median | cold, min | cold, median |\n| --- | ---: | ---: | ---: | ---: |",
  );
  for (const name of Object.keys(cases)) {
    const cost = measured<SectionCost>(name);
    console.log(`| ${name} | ${ns(cost.hot)} | ${ns(cost.cold)} |`);
  }
  const { perSection, perStep, timer } = measured<Allocation>("allocation");
  console.log(
    `\nAllocated: ${perSection.toFixed(2)} B a section, ${perStep.toFixed(2)} B a step. Held by 32 sections with their histograms: ${(timer / 1024).toFixed(0)} KiB.`,
  );
  const calibration = measured<Record<string, number>>("calibration");
  console.log(
    `Calibration: ${Object.entries(calibration)
      .map(([name, value]) => `${name} ${value.toFixed(0)}`)
      .join(", ")}.`,
  );
  const { stepUs, told, measured: real } = measured<Overhead>("overhead");
  console.log(
    `Overhead of a ${(stepUs / 1000).toFixed(2)} ms step of 24 sections: told ${told.toFixed(1)} µs, measured on against off ${real.toFixed(1)} µs (${((100 * told) / real - 100).toFixed(0)} %).`,
  );
  console.log("\n| section | share by the timer | share by V8's samples |\n| --- | ---: | ---: |");
  for (const share of measured<Share[]>("shares"))
    console.log(`| ${share.section} | ${(100 * share.timer).toFixed(1)} % | ${(100 * share.profile).toFixed(1)} % |`);
}
