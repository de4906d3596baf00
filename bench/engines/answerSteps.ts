import { createInterface } from "node:readline";
import type { Step } from "./step.ts";

/** Runs a step for every line of standard input and answers with its figures; `kernels` tells how many were dispatched. */
export async function answerSteps(step: Step, kernels?: () => number): Promise<void> {
  for await (const _ of createInterface({ input: process.stdin })) {
    const before = kernels?.() ?? 0;
    const [start, cpuStart] = [performance.now(), process.cpuUsage()];
    const loss = await step.run();
    const wall = performance.now() - start;
    const { user, system } = process.cpuUsage(cpuStart);
    const dispatches = kernels && kernels() - before;
    console.log(JSON.stringify({ wall, cpu: (user + system) / 1000, loss, dispatches }));
  }
}
