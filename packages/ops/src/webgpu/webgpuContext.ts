import type { GpuPrograms, GpuProgramSource, GpuValues } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";

/** What the fused kernels compute with. */
export interface WebgpuContext {
  /** A new tensor whose values are undefined. */
  readonly output: (shape: readonly number[], dtype?: "float32" | "int32") => tf.Tensor;
  /** A kernel, compiled when it is first run. */
  readonly kernel: (source: GpuProgramSource) => GpuKernel;
  /** Runs `fn` with host values on the device, freed at its end. They must not change until then. */
  readonly hosted: <T>(data: Int32Array | Float32Array, fn: (values: GpuValues) => T) => T;
  /** Runs `fn` with memory for some floats, freed at its end. */
  readonly scratch: <T>(floats: number, fn: (values: GpuValues) => T) => T;
}

/** Runs a kernel on arrays and numbers, in the order of its source. */
export type GpuKernel = (
  arrays: readonly GpuValues[],
  numbers: readonly number[],
  workgroups: readonly [x: number, y?: number, z?: number],
) => void;

export function createWebgpuContext({ output, upload, free, compile, run }: GpuPrograms): WebgpuContext {
  const using = <T>(values: GpuValues, fn: (values: GpuValues) => T): T => {
    try {
      return fn(values);
    } finally {
      free(values);
    }
  };
  return {
    output: (shape, dtype = "float32") => tf.engine().makeTensorFromTensorInfo(output(shape, dtype)),
    kernel(source) {
      let program: ReturnType<typeof compile> | undefined;
      return (arrays, numbers, workgroups) => run((program ??= compile(source)), arrays, numbers, workgroups);
    },
    hosted: (data, fn) => using(upload(data), fn),
    scratch: (floats, fn) => using(output([floats], "float32"), fn),
  };
}

/** Threads of a workgroup that takes each element on its own. */
const elementThreads = 256;

/** Most workgroups that every device takes along one axis. */
const mostWorkgroups = 65_535;

/** A kernel that computes elements `i` below the number `count`. */
export const eachElement = (code: string): string => `
  @compute @workgroup_size(${elementThreads})
  fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
  ) {
    let i = (group.y * groups.x + group.x) * ${elementThreads}u + thread;
    if (i >= a.count) { return; }
    ${code}
  }`;

/** The workgroups of {@link eachElement}. */
export function groupsFor(count: number): [x: number, y: number] {
  const groups = Math.ceil(count / elementThreads);
  const y = Math.ceil(groups / mostWorkgroups);
  return [y === 0 ? 0 : Math.ceil(groups / y), Math.max(1, y)];
}

/** The workgroups of a kernel that takes a row each. */
export function groupsForRows(rows: number): [x: number, y: number] {
  const y = Math.ceil(rows / mostWorkgroups);
  return [y === 0 ? 0 : Math.ceil(rows / y), Math.max(1, y)];
}

/** The head of a kernel whose workgroups of `threads` take a row each, of the number `rows`. */
export const eachRow = (threads: number, code: string): string => `
  @compute @workgroup_size(${threads})
  fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
  ) {
    let row = group.y * groups.x + group.x;
    if (row >= a.rows) { return; }
    ${code}
  }`;

/** Functions that combine a value of each thread of a workgroup and give all of them the result: `total` and `largest`. */
export const reductions = (threads: number): string => `
  var<workgroup> reduced: array<f32, ${threads}>;
  fn total(value: f32, thread: u32) -> f32 {
    reduced[thread] = value;
    workgroupBarrier();
    for (var half = ${threads / 2}u; half > 0u; half >>= 1u) {
      if (thread < half) { reduced[thread] += reduced[thread + half]; }
      workgroupBarrier();
    }
    return workgroupUniformLoad(&reduced[0]);
  }
  fn largest(value: f32, thread: u32) -> f32 {
    reduced[thread] = value;
    workgroupBarrier();
    for (var half = ${threads / 2}u; half > 0u; half >>= 1u) {
      if (thread < half) { reduced[thread] = max(reduced[thread], reduced[thread + half]); }
      workgroupBarrier();
    }
    return workgroupUniformLoad(&reduced[0]);
  }`;
