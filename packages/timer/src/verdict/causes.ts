/** A cause that is not a whole lane. */
export interface CauseKind {
  /** Share of the time up to which it is nothing to talk about. */
  readonly healthy: number;
  readonly advice: string;
}

/** Causes by name. Those named like a section's role are what its sections cost. */
export const causeKinds: Readonly<Record<string, CauseKind>> = {
  "launch-bound": {
    healthy: 0.3,
    advice: "the host dispatches kernels more slowly than they run: use fused ops, larger batches, more anchors a step",
  },
  "sync-wait": {
    healthy: 0.2,
    advice: "the host waits for the device at reads: read the loss and the metrics together, once a step",
  },
  "allocator-churn": {
    healthy: 0.1,
    advice: "new tensor shapes keep coming: use length buckets or packed rows, so that shapes repeat",
  },
  packing: {
    healthy: 0.1,
    advice: "packing hidden states blocks: pack batch n while batch n+1 runs, and don't concatenate features",
  },
  "block-mask": {
    healthy: 0.08,
    advice: "building the block mask is slow: build it from row ranges, and cache it where it comes again",
  },
  queue: { healthy: 0.1, advice: "the queue holds back: lower minReady, raise its capacity" },
  "lost-overlap": {
    healthy: 0.15,
    advice:
      "the lanes take turns instead of running together: prefetch, so that the next batch is made during the step",
  },
  straggler: {
    healthy: 0.1,
    advice: "one lane is slower than its equals: look at its machine or device, or give it less work",
  },
  "data-bound": { healthy: 0.1, advice: "reading and tokenizing blocks: prefetch, tokenize once, use more workers" },
  optimizer: { healthy: 0.25, advice: "the optimizer is dear: use its fused form, or accumulate over more batches" },
  log: { healthy: 0.05, advice: "writing the log is slow: log fewer steps, use one cheap format, check the disk" },
  checkpoint: { healthy: 0.1, advice: "checkpoints take long: write them less often" },
  gc: {
    healthy: 0.08,
    advice: "garbage collection interrupts: reuse buffers, dispose tensors at once, raise --max-semi-space-size",
  },
  "event-loop": { healthy: 0.1, advice: "other callbacks keep the loop from the step: move them to a worker" },
  residual: { healthy: 0.3, advice: "much of the step is in no section: give it sections" },
  "tensor-leak": { healthy: 0, advice: "tensors stay alive after every step: dispose what the step makes" },
};

/** Advice for a verdict that blames a whole lane. */
export const boundAdvice = (lane: string, isOwn: boolean): string =>
  isOwn
    ? `${lane} does most of the work: make its largest section faster`
    : `${lane} is what the step waits for: give it a worker or more of them, larger batches, a faster engine`;
