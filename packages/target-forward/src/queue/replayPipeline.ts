import { mayPut, mayTake, queuePolicy, type QueuePolicy } from "./queuePolicy.ts";

/** What one batch took, ms. */
export interface BatchTimes {
  /** To get its tokens. */
  readonly dataMs: number;
  /** The target's forward, packing and hand-over. */
  readonly targetMs: number;
  /** The consumer's step, without waiting. */
  readonly drafterMs: number;
  /** Tokens of the batch. */
  readonly tokens: number;
}

/** The pipeline to be tried. */
export interface PipelineSettings extends Partial<QueuePolicy> {
  /** Workers beside the consumer; 0 runs the target in its thread. */
  readonly workers: number;
  /** Of the machine: lanes that want more of them together are slowed in proportion. */
  readonly cores: number;
  /** Cores that the target keeps busy in `targetMs`: its engine's threads at most, fewer where they wait for one another. */
  readonly targetCores: number;
  /** Cores that the consumer's step keeps busy in `drafterMs`. */
  readonly drafterCores: number;
}

/** What would have happened. */
export interface PipelineReplay {
  /** Wall time of all batches. */
  readonly ms: number;
  /** Tokens of all batches over that time. */
  readonly tokensPerSecond: number;
  /** The consumer's waiting by what it waited for; `queue` is for `minReady` although a batch was ready. */
  readonly waits: Readonly<Record<"target" | "data" | "queue", number>>;
  /** What most of the time went to: the drafter's own work, or one of the waits. */
  readonly bottleneck: "drafter" | "target" | "data" | "queue";
}

/** Work under way in one lane. */
interface Task {
  readonly wanted: number;
  left: number;
  readonly done: () => void;
}

/**
 * Replays recorded batch times through the loop's own rules: batches are pulled one after another as far ahead as the queue has
 * room, go to the worker with the fewest, and are taken in order. Shares of a step mislead when lanes overlap; this does not.
 *
 * @throws {RangeError} For a capacity or minReady that can't work, and for times that are no numbers.
 */
export function replayPipeline(batches: readonly BatchTimes[], settings: PipelineSettings): PipelineReplay {
  const policy = queuePolicy(settings);
  for (const [i, { dataMs, targetMs, drafterMs }] of batches.entries())
    for (const ms of [dataMs, targetMs, drafterMs])
      if (!Number.isFinite(ms)) throw new RangeError(`batch ${i} takes ${ms} ms, expected a number`);
  const { workers, cores, targetCores, drafterCores } = settings;
  const isInline = workers === 0;
  const waits = { target: 0, data: 0, queue: 0 };
  const ready = new Set<number>();
  const queues: number[][] = Array.from({ length: Math.max(1, workers) }, () => []);
  const lanes = new Map<string, Task>();
  let pulled = 0;
  let taken = 0;
  let drained = false;
  let now = 0;

  const depth = (): number => {
    let count = 0;
    while (ready.has(taken + count)) count++;
    return count;
  };
  const underWay = (): boolean => queues.some((queue) => queue.length > 0);
  const start = (lane: string, wanted: number, left: number, done: () => void): void => {
    lanes.set(lane, {
      wanted,
      left,
      done() {
        lanes.delete(lane);
        done();
      },
    });
  };

  function take(): boolean {
    if (lanes.has("drafter") || taken === batches.length) return false;
    if (!mayTake(policy, depth(), drained && !underWay())) return false;
    ready.delete(taken);
    start("drafter", drafterCores, batches[taken++]!.drafterMs, () => undefined);
    return true;
  }

  /** Inline the target works for a consumer that waits, one batch at a time; otherwise as far ahead as there is room. */
  function pull(): boolean {
    if (lanes.has("data") || drained) return false;
    if (isInline ? lanes.has("drafter") || underWay() : !mayPut(policy, pulled - taken)) return false;
    if (pulled === batches.length) {
      drained = true;
      return true;
    }
    start("data", 1, batches[pulled]!.dataMs, () => {
      queues.toSorted((a, b) => a.length - b.length)[0]!.push(pulled++);
    });
    return true;
  }

  function compute(queue: number[], worker: number): boolean {
    const [batch] = queue;
    const lane = `target[${worker}]`;
    if (batch === undefined || lanes.has(lane)) return false;
    start(lane, targetCores, batches[batch]!.targetMs, () => {
      queue.shift();
      ready.add(batch);
    });
    return true;
  }

  const startAll = (): boolean => [take(), pull(), ...queues.map(compute)].includes(true);

  for (;;) {
    while (startAll());
    if (lanes.size === 0) break;
    const tasks = [...lanes.values()];
    const wanted = tasks.reduce((sum, task) => sum + task.wanted, 0);
    const pace = Math.min(1, cores / wanted);
    const left = Math.min(...tasks.map((task) => task.left));
    if (!lanes.has("drafter") && taken < batches.length) {
      waits[depth() > 0 ? "queue" : underWay() ? "target" : "data"] += left / pace;
    }
    now += left / pace;
    for (const task of tasks) task.left -= left;
    for (const task of tasks) if (task.left === 0) task.done();
  }
  return { ms: now, tokensPerSecond: rate(batches, now), waits, bottleneck: largest(now, waits) };
}

function rate(batches: readonly BatchTimes[], ms: number): number {
  return ms === 0 ? 0 : (1000 * batches.reduce((sum, { tokens }) => sum + tokens, 0)) / ms;
}

function largest(ms: number, { target, data, queue }: PipelineReplay["waits"]): PipelineReplay["bottleneck"] {
  const shares = [
    ["drafter", ms - target - data - queue],
    ["target", target],
    ["data", data],
    ["queue", queue],
  ] as const;
  return shares.toSorted((a, b) => b[1] - a[1])[0]![0];
}
