import { startStepper } from "@dflash/bench-ops/startStepper";

/** One way to compute a step: a program that answers each line of its input with the figures of a step, as JSON. */
export interface Worker {
  readonly name: string;
  readonly command: readonly string[];
}

export interface WorkerTimes {
  readonly name: string;
  /** Milliseconds of each step; empty where the program does not run here. */
  readonly wall: readonly number[];
  /** CPU milliseconds of all threads of each step. */
  readonly cpu: readonly number[];
  /** Losses from the first step on, warm-up included; null where the program has none. */
  readonly losses: readonly (number | null)[];
  /** Kernels that the last step dispatched; null where that is not known. */
  readonly dispatches: number | null;
  /** Most memory that the process held. */
  readonly peakMiB: number | null;
}

interface Answer {
  readonly wall: number;
  readonly cpu: number;
  readonly loss?: number;
  readonly dispatches?: number;
}

const warmUp = 3;

/** Lets the workers take `rounds` steps each, one of each in turn, so that all see the same machine. */
export async function timeWorkers(workers: readonly Worker[], rounds: number): Promise<WorkerTimes[]> {
  const running = workers.map((worker) => ({
    ...startStepper<Answer>(worker.command),
    name: worker.name,
    answers: [] as Answer[],
  }));
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const worker of running) {
      const answer = await worker.step();
      if (answer !== null) worker.answers.push(answer);
    }
  }
  return running.map(({ name, answers, end }) => {
    const timed = answers.slice(warmUp);
    const peakMiB = end();
    return {
      name,
      wall: timed.map(({ wall }) => wall),
      cpu: timed.map(({ cpu }) => cpu),
      losses: answers.map(({ loss }) => loss ?? null),
      dispatches: answers.at(-1)?.dispatches ?? null,
      peakMiB,
    };
  });
}
