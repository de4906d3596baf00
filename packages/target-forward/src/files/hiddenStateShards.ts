import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openSafetensors } from "@dflash/safetensors";
import { type HiddenStatePlace, hiddenStateFile } from "./hiddenStateFile.ts";

/** Files of several records in a folder. */
export interface HiddenStateShards {
  /** Records that lie in a shard. */
  readonly records: ReadonlySet<number>;
  /** Why shards can't be read, one line each. */
  readonly broken: readonly string[];
  /** Where a record lies, or would lie: in a file of its own where no shard holds it. */
  place(record: number): HiddenStatePlace;
  /** Path of a shard to be written: the first number that no readable one has. */
  free(): string;
}

const pattern = /^hs_shard_(\d+)\.safetensors$/;
const shardFile = (dir: string, shard: number): string => join(dir, `hs_shard_${shard}.safetensors`);

/** Reads the headers of a folder's shards. A folder that isn't there holds none. */
export async function readShards(dir: string): Promise<HiddenStateShards> {
  const names = await readdir(dir).catch(() => []);
  const paths = new Map<number, string>();
  const taken = new Set<number>();
  const broken: string[] = [];
  for (const name of names) {
    const [, digits] = pattern.exec(name) ?? [];
    if (digits === undefined) continue;
    const shard = Number(digits);
    try {
      const file = await openSafetensors(join(dir, name));
      await file.close();
      taken.add(shard);
      for (const tensor of file.tensors.keys()) paths.set(Number.parseInt(tensor, 10), join(dir, name));
    } catch (error) {
      broken.push(error instanceof Error ? error.message : String(error));
    }
  }
  return {
    records: new Set(paths.keys()),
    broken,
    place(record) {
      const path = paths.get(record);
      return path === undefined ? { path: hiddenStateFile(dir, record), record: null } : { path, record };
    },
    free() {
      let shard = 0;
      while (taken.has(shard)) shard++;
      taken.add(shard);
      return shardFile(dir, shard);
    },
  };
}
