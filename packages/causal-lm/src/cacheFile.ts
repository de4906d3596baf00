import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { access, copyFile, mkdir, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A file of a model on the hub. */
export interface HubFile {
  /** Its name; models keep what they need at the top. */
  readonly path: string;
  readonly size: number;
  /** Names its content in the cache: the sha256 of a large file, git's hash of a small one. */
  readonly etag: string;
  /** Of its content; undefined for small files. */
  readonly sha256: string | undefined;
}

/** Where a file comes from and goes to. */
export interface CacheFileOptions {
  /** The bytes of the file from `start` on. */
  readonly fetchFrom: (start: number) => Promise<ReadableStream<Uint8Array>>;
  /** The model's folder in the cache, which holds `blobs`. */
  readonly storage: string;
  /** The snapshot that shows the file by its name. */
  readonly folder: string;
  readonly file: HubFile;
  /** Called with the bytes of the file on disk. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Puts a file into the cache in the layout of Hugging Face's own tools: its content in `blobs`, a link to it in the snapshot. What
 * an earlier attempt left is not fetched again.
 *
 * @throws {Error} When the content is not what it should be; it is deleted then.
 */
export async function cacheFile({ fetchFrom, storage, folder, file, onBytes }: CacheFileOptions): Promise<void> {
  const { path, size, etag } = file;
  const blob = join(storage, "blobs", etag);
  const link = join(folder, path);
  const incomplete = `${blob}.incomplete`;
  if (!(await exists(blob))) {
    await mkdir(dirname(blob), { recursive: true });
    const found = await stat(incomplete).catch(() => null);
    const start = found && found.size <= size ? found.size : 0;
    if (start < size || size === 0) {
      let bytes = start;
      let cause: unknown;
      const count = new Transform({
        transform(chunk: Uint8Array, _, done) {
          onBytes((bytes += chunk.length));
          done(null, chunk);
        },
      });
      const to = createWriteStream(incomplete, { flags: start === 0 ? "w" : "a" });
      const from = await fetchFrom(start);
      await pipeline(Readable.fromWeb(from), count, to).catch((error: unknown) => (cause = error));
      if (bytes < size)
        throw new Error(`${path}: broke off after ${bytes} of ${size} bytes; the next download goes on there`, {
          cause,
        });
    }
    await verify(incomplete, file);
    await rename(incomplete, blob);
  }
  onBytes(size);
  if (await exists(link)) return;
  await mkdir(folder, { recursive: true });
  // Not every system lets everyone make links.
  await symlink(relative(folder, blob), link).catch(() => copyFile(blob, link));
}

async function verify(incomplete: string, { path, size, sha256 }: HubFile): Promise<void> {
  const { size: arrived } = await stat(incomplete);
  if (arrived < size)
    throw new Error(`${path}: broke off after ${arrived} of ${size} bytes; the next download goes on there`);
  const hash = createHash("sha256");
  if (sha256 !== undefined) await pipeline(createReadStream(incomplete), hash);
  const digest = hash.digest("hex");
  if (arrived === size && (sha256 === undefined || digest === sha256)) return;
  await rm(incomplete);
  throw new Error(
    `${path}: arrived damaged (${arrived} bytes, sha256 ${digest}), expected ${size} bytes, sha256 ${sha256}; it was deleted, download it again`,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
