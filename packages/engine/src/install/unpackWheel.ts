import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, writeFile, type FileHandle } from "node:fs/promises";
import { dirname, join, normalize, sep } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw } from "node:zlib";

/** A file in a wheel, which is a zip archive. */
export interface WheelEntry {
  readonly name: string;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Where its local header starts. */
  readonly offset: number;
}

/**
 * Unpacks those files of a wheel that are `wanted` into a folder and returns their names.
 * @throws Error of one line that names the wheel, the entry and what is wrong with it.
 */
export async function unpackWheel(
  wheel: string,
  folder: string,
  wanted: (name: string) => boolean,
): Promise<readonly string[]> {
  const file = await open(wheel).catch((error: unknown) => {
    throw new Error(`${wheel}: can't be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  try {
    const entries = (await readDirectory(file, wheel)).filter(({ name }) => !name.endsWith("/") && wanted(name));
    for (const entry of entries) await unpackEntry(file, wheel, entry, folder);
    return entries.map(({ name }) => name);
  } finally {
    await file.close();
  }
}

const endBytes = 22;
const mostComment = 65_535;

/** The archive's list of its files. */
async function readDirectory(file: FileHandle, wheel: string): Promise<WheelEntry[]> {
  const { size } = await file.stat();
  const tail = await readAt(file, Math.max(0, size - endBytes - mostComment), Math.min(size, endBytes + mostComment));
  const end = tail.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0 || end + endBytes > tail.length) throw new Error(`${wheel}: is no wheel: it has no end of a zip archive`);
  const [count, bytes, start] = [tail.readUInt16LE(end + 10), tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (start + bytes > size)
    throw new Error(`${wheel}: its directory ends at byte ${start + bytes}, the file at ${size}; download it again`);
  const directory = await readAt(file, start, bytes);
  const entries: WheelEntry[] = [];
  for (let at = 0; entries.length < count;) {
    if (at + 46 > bytes || directory.readUInt32LE(at) !== 0x02014b50)
      throw new Error(`${wheel}: entry ${entries.length} of its directory is damaged; download it again`);
    const nameBytes = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString("utf8", at + 46, at + 46 + nameBytes),
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

async function unpackEntry(file: FileHandle, wheel: string, entry: WheelEntry, folder: string): Promise<void> {
  const reject = (problem: string): never => {
    throw new Error(`${wheel}: ${entry.name} ${problem}`);
  };
  const target = normalize(join(folder, entry.name));
  if (!target.startsWith(normalize(folder) + sep)) reject("would be unpacked outside its folder");
  if (entry.method !== 0 && entry.method !== 8) reject(`is packed by method ${entry.method}, expected 0 or 8`);
  const header = await readAt(file, entry.offset, 30);
  if (header.length < 30 || header.readUInt32LE(0) !== 0x04034b50) reject("is not where the directory says");
  const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);

  let [bytes, crc] = [0, 0];
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      crc = crc32(chunk, crc);
      done(bytes > entry.bytes ? new Error("is longer than it says") : null, chunk);
    },
  });
  await mkdir(dirname(target), { recursive: true });
  const unpack = entry.method === 8 ? [createInflateRaw()] : [];
  if (entry.packedBytes === 0) return writeFile(target, "");
  const packed = createReadStream(wheel, { start, end: start + entry.packedBytes - 1 });
  await pipeline([packed, ...unpack, check, createWriteStream(target)]).catch((error: unknown) =>
    reject(`can't be unpacked: ${error instanceof Error ? error.message : String(error)}`),
  );
  if (bytes !== entry.bytes || crc !== entry.crc) reject("is damaged; download the wheel again");
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
