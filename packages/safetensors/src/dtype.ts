/** Element type of a tensor, spelled as in the file. */
export type Dtype =
  | "BOOL"
  | "U8"
  | "I8"
  | "F8_E5M2"
  | "F8_E4M3"
  | "I16"
  | "U16"
  | "F16"
  | "BF16"
  | "I32"
  | "U32"
  | "F32"
  | "F64"
  | "I64"
  | "U64";

/** Elements of one tensor in memory. BF16, F16 and F8 elements are raw bits, BOOL elements 0 or 1. */
export type TensorArray =
  | Uint8Array
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

interface ArrayConstructor {
  new (buffer: ArrayBuffer): TensorArray;
  readonly BYTES_PER_ELEMENT: number;
}

/** Array type of each dtype, in the format's order of dtypes: files hold the last ones first. */
export const arrayTypes: Readonly<Record<Dtype, ArrayConstructor>> = {
  BOOL: Uint8Array,
  U8: Uint8Array,
  I8: Int8Array,
  F8_E5M2: Uint8Array,
  F8_E4M3: Uint8Array,
  I16: Int16Array,
  U16: Uint16Array,
  F16: Uint16Array,
  BF16: Uint16Array,
  I32: Int32Array,
  U32: Uint32Array,
  F32: Float32Array,
  F64: Float64Array,
  I64: BigInt64Array,
  U64: BigUint64Array,
};

/** Every dtype that can be read and written, in the format's order. */
export const dtypeNames: readonly string[] = Object.keys(arrayTypes);

export function isDtype(value: unknown): value is Dtype {
  return typeof value === "string" && Object.hasOwn(arrayTypes, value);
}

/** Bytes of one element. */
export function bytesPerElement(dtype: Dtype): number {
  return arrayTypes[dtype].BYTES_PER_ELEMENT;
}
