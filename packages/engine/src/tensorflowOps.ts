/** Values on TensorFlow's device, by the number that its binding knows them by. */
export interface DeviceValues {
  /** The binding's number. */
  readonly id: number;
  /** Extent of each axis. */
  readonly shape: readonly number[];
  /** TensorFlow's number of the element type. */
  readonly dtype: number;
}

/** What tfjs makes a tensor from. */
export interface DeviceTensor {
  /** What tfjs knows the values by. */
  dataId: object;
  /** Extent of each axis. */
  shape: number[];
  /** Element type. */
  dtype: "float32" | "int32";
}

/** Attributes of an op by name: booleans, whole numbers, `{ type }`, `{ shape }` or `{ text }`. One object a use, made once. */
export type OpAttributes = Readonly<
  Record<
    string,
    | boolean
    | number
    | { readonly type: "float32" | "int32" }
    | { readonly shape: readonly number[] }
    | { readonly text: string }
  >
>;

/**
 * TensorFlow's own ops, past tfjs: for kernels that tfjs has no name for, at half its cost a dispatch. Types that follow
 * from the inputs need no attribute.
 */
export interface TensorflowOps {
  /** Whether the binding brings this op of ours for the device, a CPU: `dflash engine install` builds one that does. */
  readonly has: (op: string) => boolean;
  /** The values of a tfjs tensor, which stay the tensor's. */
  readonly values: (tensor: {
    readonly dataId: object;
    readonly shape: number[];
    readonly dtype: string;
  }) => DeviceValues;
  /** Host values on the device, to be freed. The array must not change while they live: TensorFlow may go on reading it. */
  readonly upload: (data: Float32Array | Int32Array, shape: readonly number[]) => DeviceValues;
  /** A number or a few on the device, not to be freed and good until the kernel ends: the last few thousand are made once. */
  readonly constant: (value: number | readonly number[], type: "float32" | "int32") => DeviceValues;
  /** A variable of TensorFlow's, for ops that update one in place; never freed, and it holds on to what it was last assigned. */
  readonly variable: () => DeviceValues;
  /** Runs an op; its `outputs` results are to be freed or kept. */
  readonly run: (
    op: string,
    inputs: readonly DeviceValues[],
    attributes?: OpAttributes,
    outputs?: number,
  ) => DeviceValues[];
  /** Frees values. */
  readonly free: (values: DeviceValues) => void;
  /** Takes values out of the count of what kernels leave, for a cache of few that frees them when it drops them. */
  readonly hold: (values: DeviceValues) => void;
  /** Hands values over to tfjs, whose tensor of them frees them. */
  readonly keep: (values: DeviceValues) => DeviceTensor;
  /** Frees a tensor's values, which an op's resource goes on holding; `replace` gives it others. */
  readonly release: (tensor: { readonly dataId: object }) => void;
  /** Gives a tensor other values of its shape and frees those that it has. */
  readonly replace: (tensor: { readonly dataId: object }, values: DeviceValues) => void;
}
