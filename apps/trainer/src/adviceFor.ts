import { recordedSetting } from "./whatIf.ts";

/** What to change in a run for each verdict, in flags of `dflash train`; by the verdict's cause, lanes without their numbers. */
const advice: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "target-bound":
      "the step waits for the target: run it beside the drafter (--target-workers 1, or one more), or only once (dflash capture, then --hidden-states)",
    "drafter-bound":
      "the drafter does most of the work: fewer --anchors a record, a smaller --block-size, more --threads, or a faster --engine",
    "data-bound":
      "reading and tokenizing blocks: run the target in --target-workers, so that data are read during the step",
    queue: "the queue holds back: a larger --queue",
    "lost-overlap": "target and drafter take turns: a larger --queue lets the target work ahead",
    packing: "packing hidden states blocks: --split-features hands them over without joining them",
    "block-mask": "building the block mask is slow: fewer --anchors, or --buckets auto so that masks come again",
    "allocator-churn":
      "new tensor shapes keep coming: --buckets auto pads to few lengths, --batch-tokens packs into one",
    "launch-bound": "the host dispatches kernels more slowly than they run: more --rows and --anchors a step",
    "sync-wait": "the host waits for the device at reads: more --rows a step, so that there are fewer of them",
    optimizer: "the optimizer is dear: --accumulate over more batches a step",
    checkpoint: "checkpoints take long: a larger --checkpoint-every",
    log: "writing the log is slow: fewer --log outputs, and a look at the disk",
    gc: "garbage collection interrupts: NODE_OPTIONS=--max-semi-space-size=64 makes it rarer",
    "event-loop": "other callbacks keep the loop from the step: move them to a worker",
    straggler: "one worker is slower than its equals: look at its machine or device, or leave it out",
    residual: "much of the step is in no section: look at the slow steps' spans, and give it sections",
    "tensor-leak": "tensors stay alive after every step: dispose what the step makes",
    balanced: "nothing stands out: a faster --engine or more --rows a step help all lanes",
  }),
);

/** One line of what to change for a verdict's cause; null for a cause of your own. */
export function adviceFor(cause: string, config: unknown): string | null {
  const hasFiles = typeof config === "object" && config !== null && "hiddenStates" in config && config.hiddenStates;
  const known = cause.replace(/\[\d+\]/, "");
  if (known === "target-bound" && hasFiles)
    return "the step waits for the files of hidden states: put them on a faster disk, or raise --queue";
  if (known === "data-bound" && hasFiles)
    return "the step waits for batches to be read: put the hidden states on a faster disk, and capture the records that bad-hidden-states events in the log count, if any";
  if (known === "queue" && recordedSetting(config, "min-ready") > 1)
    return "the queue holds back: --min-ready 1 and a larger --queue";
  return advice.get(known) ?? null;
}
