import { createReadStream } from "node:fs";
import { crc32 } from "node:zlib";

/** CRC-32 of files, one behind the other, in eight hexadecimal digits: tells that they were changed. */
export async function checksumOf(paths: readonly string[]): Promise<string> {
  let sum = 0;
  for (const path of paths) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 2 ** 20 });
    for await (const chunk of chunks) sum = crc32(chunk, sum);
  }
  return sum.toString(16).padStart(8, "0");
}
