/** What an engine did while a section was open; null where it can't tell. */
export interface Causes {
  /** Kernels dispatched. */
  readonly kernels: number | null;
  /** Bytes newly allocated. */
  readonly newBytes: number | null;
  /** Tensors alive at the end less those at the start. */
  readonly tensors: number | null;
  /** Shapes seen for the first time. */
  readonly newShapes: number | null;
  /** Milliseconds spent waiting for the device. */
  readonly syncMs: number | null;
}

/**
 * Running totals that an engine keeps and a timer reads at every boundary of a section, so its properties must be cheap and must not allocate.
 * A property that is left out is a cause that the engine can't tell. `tensors` is how many are alive.
 */
export interface CauseProbe {
  /** Kernels dispatched so far. */
  readonly kernels?: number;
  /** Bytes newly allocated so far. */
  readonly newBytes?: number;
  /** Tensors alive now. */
  readonly tensors?: number;
  /** Shapes seen so far. */
  readonly newShapes?: number;
  /** Time spent waiting for the device so far, ms. */
  readonly syncMs?: number;
  /** Blocks until the device has computed all that was dispatched; left out where the engine can't block. */
  sync?(): void;
}
