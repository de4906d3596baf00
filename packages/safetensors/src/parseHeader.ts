import { bytesPerElement, dtypeNames, isDtype, type Dtype } from "./dtype.ts";
import { findDuplicateKey } from "./findDuplicateKey.ts";
import { oneLine } from "./oneLine.ts";

/** Where and what a tensor is. */
export interface TensorInfo {
  /** Element type. */
  readonly dtype: Dtype;
  /** Extent of each axis; `[]` for a scalar. */
  readonly shape: readonly number[];
  /** The file that holds the elements, row-major, little-endian. */
  readonly file: string;
  /** Position of the first byte in that file. */
  readonly byteOffset: number;
  /** Bytes of all elements. */
  readonly byteLength: number;
}

/** What the header of a safetensors file says, checked against the size of the file. */
export interface SafetensorsHeader {
  /** Every tensor by its name, in the order of the header. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** What its `__metadata__` says; empty without one. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Parses the JSON header of a safetensors file. The tensors must tile the data section without a gap or an overlap,
 * as the reference implementation demands, so whatever is allocated for them later is bounded by the file's size.
 *
 * @param bytes The header's bytes, without its length.
 * @param file Name of the file, for messages and for {@link TensorInfo.file}.
 * @param dataBytes Size of the data section, which starts right after the header.
 * @throws {Error} One line that names the file, the tensor, the value and what was expected.
 */
export function parseHeader(bytes: Uint8Array, file: string, dataBytes: number): SafetensorsHeader {
  const { __metadata__: metadata, ...entries } = parseObject(bytes, file);
  const dataStart = 8 + bytes.byteLength;
  const tensors = new Map(
    Object.entries(entries).map(([name, entry]) => [name, parseEntry(entry, file, name, dataStart)]),
  );
  checkTiling(tensors, file, dataStart, dataStart + dataBytes);
  return { tensors, metadata: parseMetadata(metadata, file) };
}

function parseObject(bytes: Uint8Array, file: string): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: the header is not JSON in UTF-8 (${oneLine(error)}); is this a safetensors file?`, {
      cause: error,
    });
  }
  if (!isRecord(value)) throw new Error(`${file}: the header is ${oneLine(text)}, expected a JSON object of tensors`);
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined)
    throw new Error(`${file}: the header has the key ${JSON.stringify(duplicate)} twice, expected once`);
  return value;
}

function parseMetadata(value: unknown, file: string): Record<string, string> {
  if (value === undefined) return {};
  if (isStrings(value)) return value;
  throw new Error(`${file}: __metadata__ is ${oneLine(value)}, expected an object of strings`);
}

function parseEntry(entry: unknown, file: string, name: string, dataStart: number): TensorInfo {
  const where = `${file}: tensor ${JSON.stringify(name)}`;
  if (!isRecord(entry)) {
    throw new Error(`${where}: its entry is ${oneLine(entry)}, expected { dtype, shape, data_offsets }`);
  }
  const { dtype, shape, data_offsets: offsets } = entry;
  if (!isDtype(dtype)) {
    throw new Error(`${where}: dtype is ${oneLine(dtype)}, expected one of ${dtypeNames.join(" ")}`);
  }
  if (!isSizes(shape)) {
    throw new Error(`${where}: shape is ${oneLine(shape)}, expected an array of integers ≥ 0`);
  }
  const [begin, end, ...more] = isSizes(offsets) ? offsets : [];
  if (begin === undefined || end === undefined || end < begin || more.length > 0) {
    throw new Error(`${where}: data_offsets is ${oneLine(offsets)}, expected [begin, end] with 0 ≤ begin ≤ end`);
  }
  const expected = shape.reduce((product, size) => product * size, bytesPerElement(dtype));
  if (end - begin !== expected) {
    const layout = `${dtype} [${shape.join(", ")}]`;
    throw new Error(`${where}: data_offsets hold ${end - begin} bytes, expected ${expected} for ${layout}`);
  }
  return { dtype, shape, file, byteOffset: dataStart + begin, byteLength: end - begin };
}

function checkTiling(tensors: Map<string, TensorInfo>, file: string, dataStart: number, fileEnd: number): void {
  const sorted = [...tensors].toSorted(([, a], [, b]) => a.byteOffset - b.byteOffset || a.byteLength - b.byteLength);
  let position = dataStart;
  for (const [name, { byteOffset, byteLength }] of sorted) {
    const where = `${file}: tensor ${JSON.stringify(name)}`;
    if (byteOffset + byteLength > fileEnd) {
      throw new Error(
        `${where}: its data ends at byte ${byteOffset + byteLength} but the file at byte ${fileEnd}; the file is truncated`,
      );
    }
    if (byteOffset !== position) {
      const fault = byteOffset < position ? "overlaps the tensor before it" : "leaves a gap before it";
      throw new Error(`${where}: its data begins at byte ${byteOffset} and ${fault}, expected byte ${position}`);
    }
    position = byteOffset + byteLength;
  }
  if (position !== fileEnd) {
    throw new Error(`${file}: the tensors end at byte ${position}, expected ${fileEnd}, the end of the file`);
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStrings(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === "string");
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
