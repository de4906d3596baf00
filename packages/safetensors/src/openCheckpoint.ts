import { access, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { findDuplicateKey } from "./findDuplicateKey.ts";
import { oneLine } from "./oneLine.ts";
import { isRecord } from "./parseHeader.ts";
import { findTensor, openSafetensors, type Safetensors } from "./openSafetensors.ts";

/**
 * Opens the weights in a model folder in the Hugging Face layout: `model.safetensors`, or the shards that
 * `model.safetensors.index.json` lists. Tensors of a shard that the index doesn't list are left out.
 *
 * @throws {Error} One line that names the file, the tensor, the value and what was expected.
 */
export async function openCheckpoint(dir: string): Promise<Safetensors> {
  const single = join(dir, "model.safetensors");
  const index = join(dir, "model.safetensors.index.json");
  if (await exists(single)) return openSafetensors(single);
  if (await exists(index)) return openShards(dir, index);
  throw new Error(
    `${dir}: holds neither model.safetensors nor model.safetensors.index.json; expected the folder of a model`,
  );
}

async function openShards(dir: string, index: string): Promise<Safetensors> {
  const weightMap = parseIndex(await readFile(index, "utf8"), index);
  const shards = new Map<string, Safetensors>();
  const close = async () => void (await Promise.all([...shards.values()].map((shard) => shard.close())));
  try {
    for (const shard of new Set(weightMap.values())) shards.set(shard, await openSafetensors(join(dir, shard)));
    const tensors = new Map(
      [...weightMap].map(([name, shard]) => [name, findTensor(shards.get(shard)!.tensors, name, join(dir, shard))]),
    );
    const shardOf = (name: string): Safetensors => {
      findTensor(tensors, name, index);
      return shards.get(weightMap.get(name)!)!;
    };
    return {
      tensors,
      metadata: Object.fromEntries([...shards.values()].flatMap((shard) => Object.entries(shard.metadata))),
      read: async (name) => shardOf(name).read(name),
      readFloat32: async (name) => shardOf(name).readFloat32(name),
      readInt32: async (name) => shardOf(name).readInt32(name),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function parseIndex(text: string, index: string): Map<string, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`${index}: not JSON (${oneLine(error)})`, { cause: error });
  }
  const weightMap = isRecord(parsed) ? parsed.weight_map : undefined;
  if (!isRecord(weightMap)) {
    throw new Error(
      `${index}: weight_map is ${oneLine(weightMap)}, expected an object of tensor names with their files`,
    );
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined)
    throw new Error(`${index}: the key ${JSON.stringify(duplicate)} stands twice, expected once`);
  const shards = new Map<string, string>();
  for (const [name, shard] of Object.entries(weightMap)) {
    // A name with a path could point out of the folder.
    if (typeof shard !== "string" || basename(shard) !== shard || !shard.endsWith(".safetensors")) {
      const where = `${index}: tensor ${JSON.stringify(name)}`;
      throw new Error(
        `${where}: its file is ${oneLine(shard)}, expected the name of a .safetensors file beside the index`,
      );
    }
    shards.set(name, shard);
  }
  return shards;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
