import type { Judgement } from "./report/runData.ts";

/** What held a run back and what to change, for a reader. */
export function judgementLines(judgement: Judgement | null): string[] {
  if (!judgement) return ["verdict: none, for too short a run; ten steps are enough for one"];
  const { cause, share, confidence, advice, predictions } = judgement;
  const [best] = predictions;
  return [
    `verdict: ${cause}, ${(100 * share).toFixed(0)} % of the time, confidence ${confidence.toFixed(2)}`,
    ...(advice === null ? [] : [`advice: ${advice}`]),
    ...(best
      ? [`predicted: ${best.tokensPerSecond.toFixed(0)} tokens/s (×${best.ratio.toFixed(2)}) with ${best.flags}`]
      : []),
  ];
}
