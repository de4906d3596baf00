/** Element type of a {@link Tensor}. */
export type DType = "float32" | "int32";

/** A dense, row-major array on the engine. Opaque: only ops compute with it. */
export interface Tensor {
  /** Extent of each axis; `[]` for a scalar. */
  readonly shape: readonly number[];
  /** Element type. */
  readonly dtype: DType;
  /** Copies the values to host memory once the engine has computed them. */
  read(): Promise<Float32Array | Int32Array>;
  /** Frees the engine's memory. A second call does nothing; any other use afterwards throws. */
  dispose(): void;
}
