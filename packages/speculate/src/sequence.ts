import type { CachedSequence } from "@dflash/ops";
import type { TargetCache } from "@dflash/target-forward";
import type { Generation } from "./generation.ts";

/** What ends an answer. */
export interface Limits {
  readonly maxNewTokens: number;
  readonly stopIds: ReadonlySet<number>;
}

/** What is kept of a sequence between rounds. */
export interface SequenceState {
  /** Of its prompt. */
  readonly index: number;
  /** What its draws depend on. */
  readonly number: number;
  readonly cache: TargetCache;
  /** Null without a drafter. */
  readonly drafterCache: CachedSequence | null;
  /** The newest token, which neither cache holds. */
  readonly last: number;
}

/** One answer while it grows. */
export interface Sequence extends SequenceState {
  /** Why it is complete; null while it isn't. */
  readonly finish: "stop" | "length" | null;
  /** Adds the tokens of a round; gives those that belong to the answer. */
  commit(tokens: readonly number[]): readonly number[];
  result(): Generation;
  dispose(): void;
}

/** An answer of no tokens. */
export function createSequence(
  index: number,
  { maxNewTokens, stopIds }: Limits,
  state: Pick<SequenceState, "number" | "cache" | "drafterCache">,
): Sequence {
  const ids: number[] = [];
  const rounds: number[] = [];
  let finish: Sequence["finish"] = null;
  return {
    index,
    ...state,
    get last() {
      return ids.at(-1)!;
    },
    get finish() {
      return finish;
    },
    commit(tokens) {
      // The prompt's own round drafts nothing.
      if (ids.length > 0) rounds.push(tokens.length);
      const room = tokens.slice(0, maxNewTokens - ids.length);
      const stop = room.findIndex((id) => stopIds.has(id));
      const kept = stop < 0 ? room : room.slice(0, stop + 1);
      ids.push(...kept);
      if (stop >= 0) finish = "stop";
      else if (ids.length === maxNewTokens) finish = "length";
      return kept;
    },
    result: () => ({ ids: Int32Array.from(ids), finish: finish ?? "signal", acceptanceLengths: rounds }),
    dispose() {
      state.cache.dispose();
      state.drafterCache?.dispose();
    },
  };
}
