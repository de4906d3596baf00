import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSafetensors, writeSafetensors, type TensorData } from "@dflash/safetensors";
import type { TokenBatch } from "@dflash/target-forward";

const folder = process.env["DFLASH_FIXTURES"] ?? fileURLToPath(new URL("../../../fixtures", import.meta.url));

/** The committed tiny target. */
export const tinyTarget: string = fileURLToPath(new URL("../../../data/tiny-target", import.meta.url));

/** A parity case `target-*`: a model folder and what PyTorch computed with it on two rows, packed by their lengths. */
export interface TargetFixture {
  /** A model folder in the Hugging Face layout, in the temporary folder. */
  readonly dir: string;
  readonly batch: TokenBatch;
  /** PyTorch's values of a tensor `[2, 80, D]`, its rows packed as the batch. */
  expected(name: string): Promise<Float32Array>;
  remove(): Promise<void>;
}

/** Lays a case out as a model folder. */
export async function openTargetFixture(name: string): Promise<TargetFixture> {
  const file = await openSafetensors(join(folder, `${name}.safetensors`));
  const { config } = JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
  const dir = await mkdtemp(join(tmpdir(), `${name}-`));
  const weights: Record<string, TensorData> = {};
  for (const key of file.tensors.keys()) {
    if (key.startsWith("weights/")) weights[key.slice("weights/".length)] = await file.read(key);
  }
  await writeSafetensors(join(dir, "model.safetensors"), weights);
  await writeFile(join(dir, "config.json"), JSON.stringify(config));

  const lengths = [...(await file.readInt32("lengths"))];
  const packed = <A extends Float32Array | Int32Array>(values: A): A => {
    const row = values.length / lengths.length;
    const width = row / file.tensors.get("input_ids")!.shape[1]!;
    const kept = values.filter((_, i) => i % row < lengths[Math.floor(i / row)]! * width);
    return kept as A;
  };
  const ids = packed(await file.readInt32("input_ids"));
  const rowStarts = Int32Array.from([0, ...lengths.map((_, row) => lengths.slice(0, row + 1).reduce((a, b) => a + b))]);
  return {
    dir,
    batch: { index: 0, ids, lossMask: new Uint8Array(ids.length), rowStarts },
    expected: async (tensor) => packed(await file.readFloat32(tensor)),
    async remove() {
      await file.close();
      await rm(dir, { recursive: true });
    },
  };
}
