import type { DFlashDrafter } from "@dflash/drafter";
import type { Ops, Tensor } from "@dflash/ops";
import type { CachedTargetModel } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { chooseTokens } from "./chooseTokens.ts";
import { draftBlocks } from "./draftBlocks.ts";
import type { SequenceState } from "./sequence.ts";
import type { TokenSampler } from "./tokenSampler.ts";
import { verifiedTokens } from "./verifiedTokens.ts";

/** The parts of the work that are timed, as sections `speculate/<part>`. */
export const parts = ["prefill", "draft", "verify", "sample", "crop"] as const;

/** A part of the work. */
export type Part = (typeof parts)[number];

export interface RoundsOptions {
  readonly ops: Ops;
  readonly target: CachedTargetModel;
  readonly drafter: DFlashDrafter | null;
  readonly blockSize: number;
  /** Null takes the likeliest token. */
  readonly sampler: TokenSampler | null;
  readonly timer: Pick<Timer, "section">;
}

/** Tokens to commit, computed round by round. */
export interface Rounds {
  /** Fills the caches of new sequences with their prompts and gives the first token behind each. */
  begin(sequences: readonly SequenceState[], prompts: readonly Int32Array[]): Promise<number[]>;
  /** Drafts and checks one block of each sequence and gives the tokens that it commits, at least one. */
  advance(sequences: readonly SequenceState[]): Promise<number[][]>;
}

export function createRounds({ ops, target, drafter, blockSize, sampler, timer }: RoundsOptions): Rounds {
  const layerIds = drafter?.config.targetLayerIds ?? [];
  const section = (part: Part) => timer.section(`speculate/${part}`);
  const [prefilling, drafting, verifying] = [section("prefill"), section("draft"), section("verify")];
  const [sampling, cropping] = [section("sample"), section("crop")];

  /** Hands the features of new tokens, so many of each sequence, to the drafter, and frees them. */
  const remember = (
    sequences: readonly SequenceState[],
    counts: (row: number) => number,
    features: readonly Tensor[],
  ): void => {
    const rows = sequences.map(({ drafterCache }, row) => ({ cache: drafterCache!, count: counts(row) }));
    drafter?.append(rows, features);
    for (const feature of features) feature.dispose();
  };

  return {
    begin: async (sequences, prompts) =>
      prefilling.time(async () => {
        const { features, last } = target.extend(
          sequences.map(({ cache }, row) => ({ ids: prompts[row]!, cache })),
          layerIds,
        );
        let end = 0;
        const ends = Int32Array.from(prompts, ({ length }) => (end += length) - 1);
        const logits = ops.scope(() => target.logits(ops.gather(last, ends)));
        // The last layer's may be among the features.
        remember(sequences, (row) => prompts[row]!.length, features);
        last.dispose();
        const chosen = await chooseTokens(ops, logits, sampler);
        logits.dispose();
        return sequences.map(({ number }, row) => chosen(row, number, prompts[row]!.length));
      }),

    async advance(sequences) {
      const draft = { ops, head: target.head, drafter, blockSize };
      const drafts = await drafting.time(async () => draftBlocks(draft, sequences));
      const { features, last, logits } = verifying.time(() => {
        const blocks = sequences.map(({ cache, last: id }, row) => ({
          ids: Int32Array.of(id, ...drafts[row]!),
          cache,
        }));
        const extended = target.extend(blocks, layerIds);
        return { ...extended, logits: target.logits(extended.last) };
      });
      // Those of the whole block, of which the crop leaves what is committed: choosing them first would cost more.
      drafting.time(() => remember(sequences, () => blockSize, features));
      const committed = await sampling.time(async () => {
        const chosen = await chooseTokens(ops, logits, sampler);
        return sequences.map(({ number, cache }, row) => {
          const position = cache.length - blockSize + 1;
          return verifiedTokens(drafts[row]!, (slot) => chosen(row * blockSize + slot, number, position + slot));
        });
      });
      cropping.time(() => {
        for (const [row, { cache, drafterCache }] of sequences.entries()) {
          const length = cache.length - blockSize + committed[row]!.length;
          cache.crop(length);
          drafterCache?.crop(length);
        }
        for (const tensor of [last, logits]) tensor.dispose();
      });
      return committed;
    },
  };
}
