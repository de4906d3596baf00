import { checkSeed, type DFlashDrafter } from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import type { CachedTargetModel } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { createRounds } from "./createRounds.ts";
import type { GeneratedTokens, Generation } from "./generation.ts";
import { createSequence, type Sequence } from "./sequence.ts";
import { createTokenSampler } from "./tokenSampler.ts";

/** Settings of {@link generate}. */
export interface GenerateOptions {
  /** What target and drafter compute with. */
  readonly ops: Ops;
  /** Checks what is proposed, and says the rest. */
  readonly target: CachedTargetModel;
  /** Proposes the tokens; null generates one by one, without speculation. */
  readonly drafter: DFlashDrafter | null;
  /** Token ids of each prompt, at least one. */
  readonly prompts: readonly Int32Array[];
  /** Longest answer. */
  readonly maxNewTokens: number;
  /** Tokens that end an answer; none unless given. */
  readonly stopIds?: readonly number[];
  /** Slots of a block, its first being the last token's: 1 to the drafter's; the drafter's unless given. */
  readonly blockSize?: number;
  /** 0, the likeliest token, unless given. */
  readonly temperature?: number;
  /** Of the sampling; 0 unless given. */
  readonly seed?: number;
  /** What the draws for each prompt depend on beside the seed, integers from 0; its index unless given. */
  readonly promptNumbers?: readonly number[];
  /** Prompts that are answered at the same time; 1 unless given. */
  readonly batch?: number;
  /** Receives the sections `speculate/prefill`, `draft`, `verify`, `sample` and `crop`. */
  readonly timer: Pick<Timer, "section">;
  /** Called with the tokens of every round. */
  readonly onTokens?: (tokens: GeneratedTokens) => void;
  /** Ends all answers after the round under way; those that weren't begun are empty. */
  readonly signal?: AbortSignal;
}

/** Signals, timers and input are heard between two rounds: an engine that computes in this thread never waits. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Answers prompts by speculative decoding: the drafter proposes a block, the target checks it in one forward and commits the
 * part that it would have produced itself and one token of its own. The answers are those of the target alone, token by token at
 * temperature 0 and in distribution above, whatever the drafter proposes.
 *
 * @returns The answers in the order of the prompts.
 * @throws {RangeError} One line that names the option, its value and what was expected.
 */
export async function generate(options: GenerateOptions): Promise<Generation[]> {
  const { ops, target, drafter, prompts, maxNewTokens, timer, batch = 1, temperature = 0, seed = 0, signal } = options;
  const blockSize = options.blockSize ?? drafter?.config.blockSize ?? 1;
  check({ ...options, batch, temperature, blockSize });
  checkSeed(seed);
  const sampler = temperature === 0 ? null : createTokenSampler(temperature, seed);
  const rounds = createRounds({ ops, target, drafter, blockSize, sampler, timer });
  const limits = { maxNewTokens, stopIds: new Set(options.stopIds) };
  const empty: Generation = { ids: new Int32Array(), finish: "signal", acceptanceLengths: [] };
  const results = prompts.map(() => empty);
  let begun = 0;
  let active: Sequence[] = [];

  const begin = (): Sequence => {
    const drafterCache = drafter?.createCache() ?? null;
    const index = begun++;
    const number = options.promptNumbers?.[index] ?? index;
    return createSequence(index, limits, { number, cache: target.createCache(), drafterCache });
  };
  const commit = (sequence: Sequence, tokens: readonly number[]): void => {
    const ids = sequence.commit(tokens);
    results[sequence.index] = sequence.result();
    options.onTokens?.({ prompt: sequence.index, ids, accepted: Math.min(ids.length, tokens.length - 1) });
  };

  try {
    while (active.length > 0 || begun < prompts.length) {
      if (signal?.aborted) break;
      const room = Math.min(batch - active.length, prompts.length - begun);
      if (room > 0) {
        const fresh = Array.from({ length: room }, begin);
        active.push(...fresh);
        const first = await rounds.begin(
          fresh,
          fresh.map(({ index }) => prompts[index]!),
        );
        for (const [row, sequence] of fresh.entries()) commit(sequence, [first[row]!]);
      } else {
        const committed = await rounds.advance(active);
        for (const [row, sequence] of active.entries()) commit(sequence, committed[row]!);
      }
      for (const sequence of active) if (sequence.finish !== null) sequence.dispose();
      active = active.filter(({ finish }) => finish === null);
      await turn();
    }
  } finally {
    for (const sequence of active) sequence.dispose();
  }
  return results;
}

function check(
  options: GenerateOptions & Required<Pick<GenerateOptions, "batch" | "temperature" | "blockSize">>,
): void {
  const { target, drafter, prompts, maxNewTokens, temperature, blockSize } = options;
  for (const name of ["maxNewTokens", "batch"] as const) {
    if (!Number.isInteger(options[name]) || options[name] < 1)
      throw new RangeError(`${name} is ${options[name]}, expected an integer of at least 1`);
  }
  if (!(temperature >= 0 && temperature < Infinity))
    throw new RangeError(`temperature is ${temperature}, expected a number of at least 0`);
  if (drafter !== null) checkFits(target, drafter);
  const most = drafter?.config.blockSize ?? 1;
  if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > most)
    throw new RangeError(
      `blockSize is ${blockSize}, expected 1 to ${most}, ${drafter ? "the drafter's" : "without a drafter"}`,
    );
  for (const [index, { length }] of prompts.entries()) {
    if (length === 0) throw new RangeError(`prompt ${index} is empty, expected at least one token`);
    const positions = drafter?.config.maxPositions ?? Infinity;
    if (length + maxNewTokens > positions)
      throw new RangeError(
        `prompt ${index} of ${length} tokens with ${maxNewTokens} new ones exceeds the drafter's ${positions} positions`,
      );
  }
}

/** Throws one line unless the drafter was made for such a target. */
function checkFits({ layers, hiddenSize, head }: CachedTargetModel, { config }: DFlashDrafter): void {
  const found = { hiddenSize, vocabSize: head.vocabSize, targetLayers: layers };
  for (const field of ["hiddenSize", "vocabSize", "targetLayers"] as const) {
    if (config[field] === found[field]) continue;
    throw new RangeError(
      `the drafter is for a target whose ${field} is ${config[field]}, this one has ${found[field]}`,
    );
  }
}
