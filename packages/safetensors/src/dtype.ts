/** The array in memory that holds one tensor's elements, by dtype. BF16, F16 and F8 elements stay raw bits. */
export interface ArrayByDtype {
  BOOL: Uint8Array;
  U8: Uint8Array;
  I8: Int8Array;
  F8_E5M2: Uint8Array;
  F8_E4M3: Uint8Array;
  I16: Int16Array;
  U16: Uint16Array;
  F16: Uint16Array;
  BF16: Uint16Array;
  I32: Int32Array;
  U32: Uint32Array;
  F32: Float32Array;
  F64: Float64Array;
  I64: BigInt64Array;
  U64: BigUint64Array;
}

/** Element type of a tensor, spelled as in the file. */
export type Dtype = keyof ArrayByDtype;

interface ArrayConstructor<A> {
  new (buffer: ArrayBuffer): A;
  readonly BYTES_PER_ELEMENT: number;
}

/** Array type of each dtype, in the format's order of dtypes: files store the last ones first. */
export const arrayTypes: { readonly [D in Dtype]: ArrayConstructor<ArrayByDtype[D]> } = {
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
export const dtypes: readonly Dtype[] = Object.keys(arrayTypes) as Dtype[];

/** Bytes of one element. */
export function bytesPerElement(dtype: Dtype): number {
  return arrayTypes[dtype].BYTES_PER_ELEMENT;
}
