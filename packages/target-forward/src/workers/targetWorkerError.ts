/** A batch ended one target worker after another: out of memory, or killed. */
export class TargetWorkerError extends Error {
  /** `TargetWorkerError`, which tells it apart. */
  override readonly name = "TargetWorkerError";
  /** Index of the batch. */
  readonly batch: number;

  constructor(batch: number, crashes: number, reason: string) {
    super(
      `target workers ended ${crashes} times on batch ${batch} (the last: ${reason}); use fewer tokens a batch, fewer workers or an engine with more memory`,
    );
    this.batch = batch;
  }
}
