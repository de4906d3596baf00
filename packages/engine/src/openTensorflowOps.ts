import type { DeviceValues, OpAttributes, TensorflowOps } from "./tensorflowOps.ts";

/** The ops with what their engine needs. */
export interface CountedTensorflowOps extends TensorflowOps {
  /** Ops run so far. */
  readonly dispatched: () => number;
  /** Bytes of results that no tensor was made of, or that took the place of a tensor's former values. */
  readonly passingBytes: () => number;
  /** Results neither freed nor kept. */
  readonly loose: () => number;
}

interface Attribute {
  readonly name: string;
  readonly type: number;
  readonly value: unknown;
}

/** The native binding of tfjs-node 4.22.0. */
export interface TensorflowBinding {
  /** Ops that it registered itself; only one that we built has any. */
  readonly cpuOps?: readonly string[];
  createTensor(shape: readonly number[], dtype: number, values: Float32Array | Int32Array): number;
  deleteTensor(id: number): void;
  executeOp(op: string, attributes: readonly Attribute[], inputs: readonly number[], outputs: number): DeviceValues[];
  isUsingGpuDevice(): boolean;
  readonly TF_FLOAT: number;
  readonly TF_INT32: number;
  readonly TF_ATTR_BOOL: number;
  readonly TF_ATTR_INT: number;
  readonly TF_ATTR_TYPE: number;
  readonly TF_ATTR_SHAPE: number;
  readonly TF_ATTR_STRING: number;
}

interface TensorRecord {
  shape: readonly number[];
  dtype: number;
  values: Float32Array | Int32Array | null;
  id: number;
  refCount: number;
}

/** What we use of tfjs-node's backend. */
export interface TensorflowBackend {
  readonly binding: TensorflowBinding;
  readonly tensorMap: {
    get(dataId: object): TensorRecord;
    set(dataId: object, record: TensorRecord): void;
  };
}

/** Variables made so far in this thread. */
let variables = 0;

/** The shape is asked for and not kept to. */
const variableOfFloats: OpAttributes = { dtype: { type: "float32" }, shape: { shape: [] }, container: { text: "" } };

/** Constants kept: more than the shapes and ranges of a few steps. */
const mostConstants = 4096;

/** The id of a record without values, which tfjs-node knows too. */
const nothing = -1;

const bytesOf = (shape: readonly number[]): number => shape.reduce((bytes, extent) => bytes * extent, 4);

/** Opens TensorFlow's ops behind the backend of tfjs-node 4.22.0, whose internals it uses. */
export function openTensorflowOps({ binding, tensorMap }: TensorflowBackend): CountedTensorflowOps {
  const encoded = new WeakMap<OpAttributes, readonly Attribute[]>();
  /** The one asked for longest ago comes first. */
  const constants = new Map<string, DeviceValues>();
  const held = new Set<number>();
  const none: readonly Attribute[] = [];
  let dispatched = 0;
  let passingBytes = 0;
  let loose = 0;

  const encode = (attributes: OpAttributes): readonly Attribute[] => {
    let list = encoded.get(attributes);
    if (list === undefined) {
      list = Object.entries(attributes).map(([name, value]) => {
        if (typeof value === "boolean") return { name, type: binding.TF_ATTR_BOOL, value };
        if (typeof value === "number") return { name, type: binding.TF_ATTR_INT, value };
        if ("shape" in value) return { name, type: binding.TF_ATTR_SHAPE, value: value.shape };
        if ("text" in value) return { name, type: binding.TF_ATTR_STRING, value: value.text };
        const type = value.type === "int32" ? binding.TF_INT32 : binding.TF_FLOAT;
        return { name, type: binding.TF_ATTR_TYPE, value: type };
      });
      encoded.set(attributes, list);
    }
    return list;
  };

  /** The record of a tensor, its values on the device: tfjs puts off their upload. */
  const onDevice = (dataId: object): TensorRecord => {
    const record = tensorMap.get(dataId);
    if (record.values !== null) {
      record.id = binding.createTensor(record.shape, record.dtype, record.values);
      record.values = null;
    }
    return record;
  };

  const upload = (data: Float32Array | Int32Array, shape: readonly number[]): DeviceValues => {
    const dtype = data instanceof Int32Array ? binding.TF_INT32 : binding.TF_FLOAT;
    return { id: binding.createTensor(shape, dtype, data), shape, dtype };
  };

  /** Not while a kernel runs, which may hold one of them. */
  const dropOldConstants = (): void => {
    if (loose > 0) return;
    for (const [key, { id }] of constants) {
      if (constants.size <= mostConstants) return;
      constants.delete(key);
      binding.deleteTensor(id);
    }
  };

  return {
    has: (op) => !binding.isUsingGpuDevice() && (binding.cpuOps?.includes(op) ?? false),
    values({ dataId, shape }) {
      const { id, dtype } = onDevice(dataId);
      return { id, shape, dtype };
    },
    upload(data, shape) {
      loose++;
      return upload(data, shape);
    },
    constant(value, type) {
      const key = `${type} ${typeof value} ${String(value)}`;
      let values = constants.get(key);
      if (values === undefined) {
        const [list, shape] = typeof value === "number" ? [[value], []] : [value, [value.length]];
        values = upload(type === "int32" ? Int32Array.from(list) : Float32Array.from(list), shape);
        dropOldConstants();
      } else constants.delete(key);
      constants.set(key, values);
      return values;
    },
    variable() {
      const name = { shared_name: { text: `variable-${variables++}` } };
      return binding.executeOp("VarHandleOp", encode({ ...variableOfFloats, ...name }), [], 1)[0]!;
    },
    run(op, inputs, attributes, outputs = 1) {
      dispatched++;
      const ids = inputs.map(({ id }) => id);
      const results = binding.executeOp(op, attributes === undefined ? none : encode(attributes), ids, outputs);
      loose += results.length;
      return results;
    },
    free({ id, shape }) {
      passingBytes += bytesOf(shape);
      if (!held.delete(id)) loose--;
      binding.deleteTensor(id);
    },
    hold({ id }) {
      held.add(id);
      loose--;
    },
    keep({ id, shape, dtype }) {
      loose--;
      const dataId = {};
      tensorMap.set(dataId, { shape, dtype, values: null, id, refCount: 1 });
      return { dataId, shape: [...shape], dtype: dtype === binding.TF_INT32 ? "int32" : "float32" };
    },
    release({ dataId }) {
      const record = onDevice(dataId);
      binding.deleteTensor(record.id);
      record.id = nothing;
    },
    replace({ dataId }, { id, shape }) {
      const record = onDevice(dataId);
      if (record.id !== nothing) {
        passingBytes += bytesOf(shape);
        binding.deleteTensor(record.id);
      }
      record.id = id;
      loose--;
    },
    dispatched: () => dispatched,
    passingBytes: () => passingBytes,
    loose: () => loose,
  };
}
