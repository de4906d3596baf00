/** Values on the GPU; tfjs's tensors are such. */
export interface GpuValues {
  /** What tfjs knows the values by. */
  readonly dataId: object;
}

/** What tfjs makes a tensor from. */
export interface GpuOutput extends GpuValues {
  /** What tfjs knows the values by. */
  dataId: object;
  /** Extent of each axis. */
  shape: number[];
  /** Element type. */
  dtype: "float32" | "int32";
}

/** A kernel in WGSL, without the declarations of its arguments. */
export interface GpuProgramSource {
  /** For error messages and profilers. */
  readonly name: string;
  /** Arrays by name: what they hold, and whether they are written. */
  readonly arrays: Readonly<
    Record<string, "f32" | "i32" | "write f32" | "write i32" | "vec4<f32>" | "write vec4<f32>">
  >;
  /** Numbers by name; they are fields of `a`. */
  readonly numbers: Readonly<Record<string, "u32" | "f32">>;
  /** With a function `main` of workgroups; declares nothing that the above does. */
  readonly code: string;
}

/** A kernel that is compiled. */
export interface GpuProgram {
  /** As its source has it. */
  readonly name: string;
}

/** WebGPU past tfjs: for kernels that tfjs has none for, at a fraction of its cost a dispatch. */
export interface GpuPrograms {
  /** Memory for a tensor's values, which are undefined at first. */
  readonly output: (shape: readonly number[], dtype: "float32" | "int32") => GpuOutput;
  /** Host values on the device, to be freed. */
  readonly upload: (data: Float32Array | Int32Array) => GpuValues;
  /** Frees values. */
  readonly free: (values: GpuValues) => void;
  /** Compiles a kernel, once for all its runs. */
  readonly compile: (source: GpuProgramSource) => GpuProgram;
  /** Runs a kernel on arrays and numbers in the order of its source. No array may be both read and written. */
  readonly run: (
    program: GpuProgram,
    arrays: readonly GpuValues[],
    numbers: readonly number[],
    workgroups: readonly [x: number, y?: number, z?: number],
  ) => void;
}
