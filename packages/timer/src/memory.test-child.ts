/** Prints the bytes held after each of three runs of half a million steps; a process of its own, so that nothing else is counted. */
import { createStatistics } from "./statistics/createStatistics.ts";
import { createTimer } from "./createTimer.ts";
import { watchSlowSteps } from "./spans/watchSlowSteps.ts";

let now = 0n;
const timer = createTimer({ clock: () => (now += 100n) });
const fit = timer.section("fit");
const part = timer.section("part");
const read = timer.section("read", { lane: "data" });
createStatistics(timer);
watchSlowSteps(timer, () => {});

const held = [1, 2, 3].map(() => {
  for (let step = 0; step < 500_000; step += 1) {
    timer.step(() => {
      fit.start();
      part.lap();
      part.stop();
      fit.stop();
      read.add("bytes", 3);
    });
  }
  // What one collection frees may take another to be gone.
  for (let i = 0; i < 3; i += 1) globalThis.gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
});
console.log(JSON.stringify(held));
