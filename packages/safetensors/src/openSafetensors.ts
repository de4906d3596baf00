import { open, type FileHandle } from "node:fs/promises";
import { bfloat16ToFloat32 } from "./bfloat16.ts";
import { arrayTypes, type Dtype, type TensorArray } from "./dtype.ts";
import { float16ToFloat32 } from "./float16.ts";
import { oneLine } from "./oneLine.ts";
import { parseHeader, type SafetensorsHeader, type TensorInfo } from "./parseHeader.ts";

/** One tensor in memory. */
export interface TensorData {
  /** Element type in the file. */
  readonly dtype: Dtype;
  /** Extent of each axis; `[]` for a scalar. */
  readonly shape: readonly number[];
  /** Row-major elements. BF16, F16 and F8 are read as raw bits, see {@link TensorArray}. */
  readonly data: TensorArray;
}

/** Open safetensors: one file or all shards of a checkpoint. Nothing but headers is read until a tensor is asked for. */
export interface Safetensors extends SafetensorsHeader {
  /** Reads one tensor as it is stored. */
  read(name: string): Promise<TensorData>;
  /** Reads an F32, BF16 or F16 tensor as float32, converted in place: no second copy. */
  readFloat32(name: string): Promise<Float32Array>;
  /** Reads an integer or BOOL tensor as int32; a value outside int32 is an error. */
  readInt32(name: string): Promise<Int32Array>;
  /** Closes the file. Reading afterwards fails. */
  close(): Promise<void>;
}

/** The reference implementation's limit. */
const maxHeaderBytes = 100_000_000;

/**
 * Opens a safetensors file and checks its header.
 *
 * @throws {Error} One line that names the file, the tensor, the value and what was expected.
 */
export async function openSafetensors(path: string): Promise<Safetensors> {
  const file = await open(path).catch((error: unknown) => {
    throw new Error(`${path}: cannot be opened (${oneLine(error)}), expected a safetensors file`, { cause: error });
  });
  try {
    return tensorsOf(file, await readHeader(file, path));
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readHeader(file: FileHandle, path: string): Promise<SafetensorsHeader> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new Error(`${path}: not a regular file; expected a safetensors file`);
  if (stat.size < 8)
    throw new Error(`${path}: ${stat.size} bytes long; a safetensors file has at least 8; the file is truncated`);
  const headerBytes = Number(new DataView(await readBytes(file, path, 0, 8)).getBigUint64(0, true));
  if (headerBytes > maxHeaderBytes) {
    throw new Error(
      `${path}: header of ${headerBytes} bytes, expected at most ${maxHeaderBytes}; is this a safetensors file?`,
    );
  }
  if (headerBytes > stat.size - 8) {
    throw new Error(`${path}: header of ${headerBytes} bytes in a file of ${stat.size}; the file is truncated`);
  }
  const header = new Uint8Array(await readBytes(file, path, 8, headerBytes));
  return parseHeader(header, path, stat.size - 8 - headerBytes);
}

function tensorsOf(file: FileHandle, { tensors, metadata }: SafetensorsHeader): Safetensors {
  const read = async (name: string): Promise<TensorData> => {
    const info = findTensor(tensors, name);
    const { dtype, shape, byteOffset, byteLength } = info;
    const buffer = await readBytes(file, info.file, byteOffset, byteLength);
    return { dtype, shape, data: new arrayTypes[dtype](buffer) };
  };

  return {
    tensors,
    metadata,
    read,
    async readFloat32(name) {
      const info = findTensor(tensors, name);
      const { dtype, byteOffset, byteLength } = info;
      if (dtype === "F32") return new Float32Array(await readBytes(file, info.file, byteOffset, byteLength));
      if (dtype !== "BF16" && dtype !== "F16") throw wrongDtype(info, name, "F32, BF16 or F16");
      const out = new Float32Array(byteLength / 2);
      await readInto(file, info.file, byteOffset, new Uint8Array(out.buffer, byteLength));
      return (dtype === "BF16" ? bfloat16ToFloat32 : float16ToFloat32)(new Uint16Array(out.buffer, byteLength), out);
    },
    async readInt32(name) {
      const info = findTensor(tensors, name);
      if (/^(F|BF)/.test(info.dtype)) throw wrongDtype(info, name, "an integer type or BOOL");
      const { data } = await read(name);
      if (data instanceof Int32Array) return data;
      const out = new Int32Array(data.length);
      for (let i = 0; i < out.length; i++) {
        out[i] = Number(data[i]);
        if (out[i] !== Number(data[i])) {
          throw new Error(
            `${info.file}: tensor ${JSON.stringify(name)}: element ${i} is ${data[i]}, expected a 32-bit integer`,
          );
        }
      }
      return out;
    },
    close: () => file.close(),
  };
}

/** Finds a tensor's entry or says which file lacks it. */
export function findTensor(tensors: ReadonlyMap<string, TensorInfo>, name: string, where?: string): TensorInfo {
  const info = tensors.get(name);
  if (info !== undefined) return info;
  const [first] = tensors.values();
  throw new Error(
    `${where ?? first?.file ?? "empty file"}: no tensor ${JSON.stringify(name)} among its ${tensors.size}`,
  );
}

function wrongDtype({ file, dtype }: TensorInfo, name: string, expected: string): Error {
  return new Error(`${file}: tensor ${JSON.stringify(name)}: dtype is ${dtype}, expected ${expected}`);
}

async function readBytes(file: FileHandle, path: string, position: number, length: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  await readInto(file, path, position, bytes);
  return bytes.buffer;
}

async function readInto(file: FileHandle, path: string, position: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    // One read is at most 2 GiB - 1 on every platform.
    const length = Math.min(bytes.byteLength - done, 2 ** 30);
    const { bytesRead } = await file.read(bytes, done, length, position + done);
    if (bytesRead === 0) {
      throw new Error(
        `${path}: ends at byte ${position + done}, expected ${position + bytes.byteLength}; it was cut while open`,
      );
    }
    done += bytesRead;
  }
}
