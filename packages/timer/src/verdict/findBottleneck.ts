import { boundAdvice, causeKinds } from "./causes.ts";
import type { JudgedStep } from "./judgedStep.ts";
import { type EngineFacts, measureCauses } from "./measureCauses.ts";

/** What held a range of steps back. */
export interface Verdict {
  /** A lane and "-bound", a cause such as `queue`, `launch-bound`, `mask` or `tensor-leak`, or `balanced`. */
  readonly cause: string;
  /** Share of the time that it took; of a leak: of the steps that leaked. */
  readonly share: number;
  /** 0 to 1; from 0.8 on it can be acted upon. */
  readonly confidence: number;
  /** One line: what to change. */
  readonly advice: string;
}

/** A lane is blamed when it took this share and so much more than the own lane, or the other way round. */
const LEAST_BOUND = 0.3;
const CLEAR_RATIO = 1.5;
/** Share beyond what is healthy from which on a cause is certain. */
const CLEAR_EXCESS = 0.25;
/** Steps that a confident verdict needs. */
const ENOUGH = 8;

/** Names the one thing that held these steps back. Steps marked `warmup` are left out, and those marked `eval` as long as there are others. */
export function findBottleneck(steps: readonly JudgedStep[], facts: EngineFacts = {}): Verdict {
  const warm = steps.filter(({ report }) => !report.tags.includes("warmup"));
  const training = warm.filter(({ report }) => !report.tags.includes("eval"));
  const judged = training.length > 0 ? training : warm;
  const total = judged.reduce((sum, { report }) => sum + report.ms, 0);
  if (total === 0) return { cause: "balanced", share: 0, confidence: 0, advice: "no step has been measured yet" };
  const enough = Math.min(1, judged.length / ENOUGH);

  const leaking = judged.filter(({ report }) => (report.causes?.tensors ?? 0) > 0).length / judged.length;
  if (leaking > 0.9 && judged.length >= ENOUGH / 2)
    return {
      cause: "tensor-leak",
      share: leaking,
      confidence: enough * leaking,
      advice: causeKinds["tensor-leak"]!.advice,
    };

  const own = `${Object.keys(judged[0]!.report.lanes)[0]!}-bound`;
  const shares = [...measureCauses(judged, facts)].map(([cause, ms]) => ({ cause, share: ms / total }));
  const ownShare = shares.find(({ cause }) => cause === own)?.share ?? 0;
  const named = shares
    .filter(({ cause }) => cause in causeKinds)
    .map((found) => ({ ...found, excess: found.share - causeKinds[found.cause]!.healthy }));
  const lanes = shares.filter(
    ({ cause, share }) =>
      !(cause in causeKinds) && cause !== own && share >= LEAST_BOUND && share > CLEAR_RATIO * ownShare,
  );

  const top = largest(named.filter(({ excess }) => excess > 0));
  const lane = largest(lanes);
  if (top && (!lane || top.share > lane.share / 2)) {
    const { advice } = causeKinds[top.cause]!;
    const rival = Math.max(
      0,
      lane?.share ?? 0,
      ...named.filter((other) => other !== top && other.excess > 0).map(({ share }) => share),
    );
    return verdict(top.cause, top.share, Math.min(1, top.excess / CLEAR_EXCESS), rival, advice);
  }
  if (lane)
    return verdict(lane.cause, lane.share, 1, ownShare, boundAdvice(lane.cause.slice(0, -"-bound".length), false));
  const rival = Math.max(0, ...shares.filter(({ cause }) => cause !== own).map(({ share }) => share));
  if (ownShare >= LEAST_BOUND && ownShare > CLEAR_RATIO * rival)
    return verdict(own, ownShare, 1, rival, boundAdvice(own.slice(0, -"-bound".length), true));
  return {
    cause: "balanced",
    share: Math.max(ownShare, rival),
    confidence: enough * 0.7,
    advice: "nothing stands out: a faster engine or larger batches help all lanes",
  };

  /** Confidence grows with how far the cause is beyond what is healthy, how far ahead of the next one, and how many steps said so. */
  function verdict(cause: string, share: number, beyond: number, next: number, advice: string): Verdict {
    const ahead = share === 0 ? 0 : Math.max(0, 1 - next / share);
    return { cause, share, confidence: enough * (0.3 + 0.4 * beyond + 0.3 * Math.min(1, 2 * ahead)), advice };
  }
}

function largest<F extends { readonly share: number }>(found: readonly F[]): F | undefined {
  return found.toSorted((a, b) => b.share - a.share)[0];
}
