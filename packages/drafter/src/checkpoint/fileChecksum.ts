import { createReadStream } from "node:fs";
import { crc32 } from "node:zlib";

/** CRC-32 of a file in eight hexadecimal digits, which tells a flipped bit. */
export async function fileChecksum(path: string): Promise<string> {
  let sum = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 2 ** 20 });
  for await (const chunk of chunks) sum = crc32(chunk, sum);
  return sum.toString(16).padStart(8, "0");
}
