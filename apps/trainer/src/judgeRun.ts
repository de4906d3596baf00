import type { HeaderRecord, StepRecord } from "@dflash/log-formatter";
import { adviceFor } from "./adviceFor.ts";
import type { Judgement, Prediction } from "./report/runData.ts";
import { mayBe, recordedSetting, whatIf } from "./whatIf.ts";

/** A prediction below this isn't worth a line. */
const leastRatio = 1.02;

/** Steps that a run is judged by at least, those that warm it up aside: one or two of fewer decide the shares of all. */
const fewestSteps = 8;

/**
 * What held a run back: the verdict that most steps agree on, of the last steps its share and confidence, what to change, and what
 * a replay predicts for the settings that it can replay. Null when no step has a verdict, or too few are there to judge.
 */
export function judgeRun(
  header: Pick<HeaderRecord, "config">,
  steps: readonly StepRecord[],
  verdicts: ReadonlyMap<string, number>,
): Judgement | null {
  const [found] = [...verdicts].toSorted((a, b) => b[1] - a[1]);
  if (!found || steps.filter(({ tags }) => !tags.includes("warmup")).length < fewestSteps) return null;
  const [cause, agreeing] = found;
  const judged = [...verdicts.values()].reduce((sum, count) => sum + count, 0);
  const last = steps.findLast(({ verdict }) => verdict?.cause === cause)?.verdict;
  return {
    cause,
    share: last?.share ?? 0,
    confidence: last?.confidence ?? 0,
    steps: agreeing / judged,
    advice: adviceFor(cause, header.config),
    predictions: predict(header, steps),
  };
}

/** Settings that the replay can tell about and that would be faster, best first. */
function predict(header: Pick<HeaderRecord, "config">, steps: readonly StepRecord[]): Prediction[] {
  const config = new Map<string, unknown>(Object.entries(header.config ?? {}));
  if (typeof config.get("hiddenStates") === "string") return [];
  const now = (name: string): number => recordedSetting(header.config, name);
  const [workers, queue, minReady] = [now("target-workers"), now("queue"), now("min-ready")];
  const candidates: ReadonlyMap<string, number>[] = [
    new Map([["target-workers", workers + 1]]),
    // A queue that must be full before a step leaves further workers nothing to do.
    ...(minReady > 1
      ? [
          new Map([
            ["target-workers", workers + 1],
            ["min-ready", 1],
          ]),
        ]
      : []),
    ...(workers > 0 ? [new Map([["target-workers", workers - 1]]), new Map([["queue", 2 * queue]])] : []),
    ...(minReady > 1 ? [new Map([["min-ready", 1]])] : []),
  ];
  return candidates
    .filter((changes) => [...changes].every(([name, value]) => mayBe(name, value)))
    .map((changes) => {
      const { replayed, predicted } = whatIf(header, steps, changes);
      return {
        flags: [...changes].map(([name, value]) => `--${name} ${value}`).join(" "),
        tokensPerSecond: predicted.tokensPerSecond,
        ratio: predicted.tokensPerSecond / replayed.tokensPerSecond,
      };
    })
    .filter(({ ratio }) => ratio >= leastRatio)
    .toSorted((a, b) => b.ratio - a.ratio);
}
