import { fileURLToPath } from "node:url";
import { summarize, type Times } from "./measure.ts";
import { startStepper } from "./startStepper.ts";
import { firstBatches } from "./trainingStep.ts";

/** The default step by one means, in a process of its own. */
export interface StepTimes {
  readonly name: string;
  /** Wall and CPU time of all threads; null where it does not run here. */
  readonly times: { readonly wall: Times; readonly cpu: Times } | null;
}

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Times the default step of each means in turn, so that all see the same machine; the slow one less often. */
export async function timeSteps(engine: string, rounds: number): Promise<StepTimes[]> {
  const ours = (threads: number, form: string): string[] => [
    process.execPath,
    "--import",
    "tsx",
    path("stepProcess.ts"),
    engine,
    String(threads),
    form,
  ];
  const batches = (await firstBatches(8)).map(({ rowStarts }) => [...rowStarts]);
  const means = [
    { name: "PyTorch, 2 threads", every: 1, command: ["python3", path("pytorch.py"), JSON.stringify(batches), "2"] },
    { name: `${engine} fused, 2 threads`, every: 1, command: ours(2, "fused") },
    { name: `${engine} fused, 1 thread`, every: 1, command: ours(1, "fused") },
    { name: `${engine} composed, 1 thread`, every: 8, command: ours(1, "composed") },
  ].map((mean) => ({ ...mean, process: startStepper<StepTime>(mean.command), times: [] as StepTime[] }));

  const warmUp = 3;
  for (let round = -warmUp; round < rounds; round++) {
    for (const { every, process: stepper, times } of means) {
      if (round % every !== 0) continue;
      const time = await stepper.step();
      if (round >= 0 && time !== null) times.push(time);
    }
  }
  for (const mean of means) mean.process.end();
  return means.map(({ name, times }) => ({
    name,
    times:
      times.length === 0
        ? null
        : { wall: summarize(times.map(({ wall }) => wall)), cpu: summarize(times.map(({ cpu }) => cpu)) },
  }));
}

interface StepTime {
  readonly wall: number;
  readonly cpu: number;
}
