import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSafetensors, writeSafetensors, type TensorData } from "@dflash/safetensors";
import type { TokenBatch } from "@dflash/target-forward";

/** The folder of the parity cases. */
export const fixtures: string =
  process.env["DFLASH_FIXTURES"] ?? fileURLToPath(new URL("../../../fixtures", import.meta.url));

/** The committed tiny target. */
export const tinyTarget: string = fileURLToPath(new URL("../../../data/tiny-target", import.meta.url));

/** A parity case `target-*`: a model folder and what PyTorch computed with it on two rows, packed by their lengths. */
export interface TargetFixture {
  /** A model folder in the Hugging Face layout, in the temporary folder. */
  readonly dir: string;
  readonly batch: TokenBatch;
  /** PyTorch's values of a tensor `[2, 80, D]`, its rows packed as the batch. */
  readonly expected: (name: string) => Promise<Float32Array>;
  remove(): Promise<void>;
}

/** Lays a case out as a model folder. */
export async function openTargetFixture(name: string): Promise<TargetFixture> {
  const file = await openSafetensors(join(fixtures, `${name}.safetensors`));
  const { config } = JSON.parse(await readFile(join(fixtures, `${name}.json`), "utf8"));
  const dir = await mkdtemp(join(tmpdir(), `${name}-`));
  const weights: Record<string, TensorData> = {};
  for (const key of file.tensors.keys()) {
    if (key.startsWith("weights/")) weights[key.slice("weights/".length)] = await file.read(key);
  }
  await writeSafetensors(join(dir, "model.safetensors"), weights);
  await writeFile(join(dir, "config.json"), JSON.stringify(config));

  const lengths = [...(await file.readInt32("lengths"))];
  const padded = file.tensors.get("input_ids")!.shape[1]!;
  const isToken = (length: number): ((value: number, i: number) => boolean) => {
    const row = length / lengths.length;
    return (_, i) => i % row < (lengths[Math.floor(i / row)]! * row) / padded;
  };
  const ids = (await file.readInt32("input_ids")).filter(isToken(lengths.length * padded));
  return {
    dir,
    batch: tokenBatch(ids, lengths),
    async expected(tensor) {
      const values = await file.readFloat32(tensor);
      return values.filter(isToken(values.length));
    },
    async remove() {
      await file.close();
      await rm(dir, { recursive: true });
    },
  };
}

/** Rows of the given lengths behind one another. */
export function tokenBatch(ids: Int32Array, lengths: readonly number[]): TokenBatch {
  const rowStarts = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => (rowStarts[row + 1] = rowStarts[row]! + length));
  return { index: 0, ids, lossMask: new Uint8Array(ids.length), rowStarts };
}
