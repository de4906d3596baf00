import type { Ops, Tensor } from "@dflash/ops";
import type { TokenSampler } from "./tokenSampler.ts";

/** The target's own token behind row `row` of the logits, to stand at `position` of the sequence with number `prompt`. */
export type ChosenTokens = (row: number, prompt: number, position: number) => number;

/** Reads what the target chooses from its logits [T, V]: the likeliest tokens, or with a sampler drawn ones. */
export async function chooseTokens(ops: Ops, logits: Tensor, sampler: TokenSampler | null): Promise<ChosenTokens> {
  if (sampler === null) {
    const indices = ops.argmax(logits);
    const best = await indices.read();
    indices.dispose();
    return (row) => best[row]!;
  }
  const [, vocabulary = 0] = logits.shape;
  const values = Float32Array.from(await logits.read());
  return (row, prompt, position) =>
    sampler(values.subarray(row * vocabulary, (row + 1) * vocabulary), prompt, position);
}
