import { bytesPerElement, dtypes, type Dtype } from "./dtype.ts";
import { findDuplicateKey } from "./findDuplicateKey.ts";

/** Where and what a tensor is. */
export interface TensorInfo {
  readonly dtype: Dtype;
  /** Extent of each axis; `[]` for a scalar. */
  readonly shape: readonly number[];
  /** The file that holds the elements, row-major, little-endian. */
  readonly file: string;
  /** Position of the first byte in that file. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** What the header of a safetensors file says, checked against the size of the file. */
export interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, TensorInfo>;
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
  if (!isRecord(value) || !Object.values(value).every((text) => typeof text === "string")) {
    throw new Error(`${file}: __metadata__ is ${oneLine(value)}, expected an object of strings`);
  }
  return value as Record<string, string>;
}

function parseEntry(entry: unknown, file: string, name: string, dataStart: number): TensorInfo {
  const where = `${file}: tensor ${JSON.stringify(name)}`;
  if (!isRecord(entry))
    throw new Error(`${where}: its entry is ${oneLine(entry)}, expected { dtype, shape, data_offsets }`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (!dtypes.includes(dtype as Dtype)) {
    throw new Error(`${where}: dtype is ${oneLine(dtype)}, expected one of ${dtypes.join(" ")}`);
  }
  if (!isSizes(shape)) throw new Error(`${where}: shape is ${oneLine(shape)}, expected an array of integers ≥ 0`);
  if (!isSizes(offsets) || offsets.length !== 2 || offsets[1]! < offsets[0]!) {
    throw new Error(`${where}: data_offsets is ${oneLine(offsets)}, expected [begin, end] with 0 ≤ begin ≤ end`);
  }
  const [begin, end] = offsets as [number, number];
  const expected = shape.reduce((product, size) => product * size, bytesPerElement(dtype as Dtype));
  if (end - begin !== expected) {
    throw new Error(
      `${where}: data_offsets hold ${end - begin} bytes, expected ${expected} for ${dtype as Dtype} [${shape.join(", ")}]`,
    );
  }
  return { dtype: dtype as Dtype, shape, file, byteOffset: dataStart + begin, byteLength: end - begin };
}

function checkTiling(tensors: Map<string, TensorInfo>, file: string, dataStart: number, fileEnd: number): void {
  const sorted = [...tensors].sort(([, a], [, b]) => a.byteOffset - b.byteOffset || a.byteLength - b.byteLength);
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** A value from the file, cut so that the message stays one readable line. */
function oneLine(value: unknown): string {
  const text = value instanceof Error ? value.message : typeof value === "string" ? value : JSON.stringify(value);
  const line = String(text).replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}
