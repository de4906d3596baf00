import { float32ToBfloat16 } from "./bfloat16.ts";
import { arrayTypes, bytesPerElement, dtypeNames, isDtype } from "./dtype.ts";
import { float32ToFloat16 } from "./float16.ts";
import { oneLine } from "./oneLine.ts";
import type { TensorData } from "./openSafetensors.ts";
import { writeAtomically } from "./writeAtomically.ts";

/** Elements converted and written at a time. */
const chunkLength = 1 << 20;

/**
 * Writes a safetensors file, byte for byte as the reference implementation does, atomically: into a temporary file in
 * the same folder, synchronised, then renamed. An interrupted write leaves whatever stood there before.
 *
 * @param tensors BF16 and F16 take raw bits, or a Float32Array that is rounded to nearest, ties to even.
 * @param metadata Strings for the header's `__metadata__`, such as `{ format: "pt" }`, which transformers expects.
 * @throws {Error} One line that names the file, the tensor, the value and what was expected.
 */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, TensorData>>,
  metadata?: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = Object.entries(tensors).toSorted(inFileOrder);
  for (const [name, tensor] of entries) checkTensor(path, name, tensor);
  const header = formatHeader(entries, metadata);
  await writeAtomically(path, async (file) => {
    await file.writeFile(header);
    for (const [, tensor] of entries) {
      for (let start = 0; start < tensor.data.length; start += chunkLength) {
        await file.writeFile(encodeChunk(tensor, start, start + chunkLength));
      }
    }
  });
}

/** Widest elements first, so that each tensor is aligned; names by their bytes. */
function inFileOrder([nameA, a]: [string, TensorData], [nameB, b]: [string, TensorData]): number {
  return (
    dtypeNames.indexOf(b.dtype) - dtypeNames.indexOf(a.dtype) || Buffer.compare(Buffer.from(nameA), Buffer.from(nameB))
  );
}

function checkTensor(path: string, name: string, { dtype, shape, data }: TensorData): void {
  const where = `${path}: tensor ${JSON.stringify(name)}`;
  if (name === "__metadata__") throw new Error(`${where}: the format reserves this name, expected another`);
  if (!isDtype(dtype)) throw new Error(`${where}: dtype is ${oneLine(dtype)}, expected one of ${dtypeNames.join(" ")}`);
  const rounded = data instanceof Float32Array && (dtype === "BF16" || dtype === "F16");
  if (!rounded && !(data instanceof arrayTypes[dtype])) {
    throw new Error(`${where}: data is a ${data.constructor.name}, expected a ${arrayTypes[dtype].name} for ${dtype}`);
  }
  const length = shape.reduce((product, size) => product * size, 1);
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0) || length !== data.length) {
    throw new Error(
      `${where}: shape is [${shape.join(", ")}], expected integers whose product is the ${data.length} elements of data`,
    );
  }
}

function formatHeader(entries: [string, TensorData][], metadata?: Readonly<Record<string, string>>): Uint8Array {
  let end = 0;
  const header: [string, unknown][] = entries.map(([name, { dtype, shape, data }]) => {
    const begin = end;
    end += data.length * bytesPerElement(dtype);
    return [name, { dtype, shape, data_offsets: [begin, end] }];
  });
  if (metadata !== undefined) header.unshift(["__metadata__", metadata]);
  // Not JSON.stringify of one object: that would move names that look like numbers to the front.
  const json = `{${header.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
  const text = Buffer.from(json);
  const bytes = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, " ");
  bytes.writeBigUInt64LE(BigInt(bytes.length - 8));
  text.copy(bytes, 8);
  return bytes;
}

function encodeChunk({ dtype, data }: TensorData, start: number, end: number): Uint8Array {
  let chunk: ArrayBufferView = data.subarray(start, end);
  if (chunk instanceof Float32Array && dtype !== "F32") {
    chunk = (dtype === "BF16" ? float32ToBfloat16 : float32ToFloat16)(chunk);
  }
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
