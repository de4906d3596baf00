import { internalsOf } from "../internals.ts";
import { readSpans } from "./readSpans.ts";
import { TOTAL } from "../stepTotals.ts";
import type { Report } from "../report.ts";
import type { StepSpans } from "./span.ts";
import type { Timer } from "../timer.ts";

const WINDOW = 64;
/** Steps from one measurement of the window to the next, and before the first. */
const REFRESH = 32;
/** Steps from one slow step to the next that is told. */
const PAUSE = 100;
const MADS = 6;
/** Steps that hardly differ would make every small difference a slow step. */
const LEAST_SPREAD = 0.01;
/** Steps whose spans are told: the slow one and three before it. */
const CONTEXT = 4;

/** A step far slower than those before it. */
export interface SlowStep {
  /** Number of the step. */
  readonly step: number;
  /** Its wall time. */
  readonly ms: number;
  /** Median of the steps before it, and the median distance from that. */
  readonly medianMs: number;
  /** Median distance of those from their median. */
  readonly madMs: number;
  /** Spans of up to three steps before it, and of it. */
  readonly steps: readonly StepSpans[];
}

/**
 * A flight recorder: calls `tell` on a step that took longer than the median of the last 64 and six times their median distance from it, at most once in 100 steps.
 * Marked steps are not judged. The first 32 steps and every 32nd are spent on measuring.
 *
 * @returns a function that stops it.
 */
export function watchSlowSteps(timer: Timer, tell: (slow: SlowStep) => void): () => void {
  const { totals } = internalsOf(timer);
  const recent = new Float64Array(WINDOW).fill(Infinity);
  /** Median, median distance from it, limit; ns. */
  const measured = new Float64Array(3).fill(Infinity);
  /** Step, start and time of the last steps, ns. */
  const context = new Float64Array(CONTEXT * 3);
  let seen = 0;
  let pause = 0;

  function measure(): void {
    const middle = Math.min(seen, WINDOW) >> 1;
    const median = recent.toSorted()[middle]!;
    const mad = recent.map((ns) => Math.abs(ns - median)).toSorted()[middle]!;
    measured[0] = median;
    measured[1] = mad;
    measured[2] = median + MADS * Math.max(mad, LEAST_SPREAD * median);
  }

  function spansOf(step: number): StepSpans[] {
    const [known, startNs = 0, ns = 0] = context.subarray((step % CONTEXT) * 3);
    const window = { startMs: startNs / 1e6, ms: ns / 1e6 };
    const spans = known === step && step > 0 ? readSpans(timer, window) : null;
    return spans ? [{ step, ...window, spans }] : [];
  }

  function onReport({ step, tags }: Report): void {
    const { start, sections } = totals;
    const ns = sections[TOTAL]!;
    context[(step % CONTEXT) * 3] = step;
    context[(step % CONTEXT) * 3 + 1] = start;
    context[(step % CONTEXT) * 3 + 2] = ns;
    if (tags.length > 0) return;
    if (pause > 0) pause -= 1;
    else if (ns > measured[2]!) {
      pause = PAUSE;
      tell({
        step,
        ms: ns / 1e6,
        medianMs: measured[0]! / 1e6,
        madMs: measured[1]! / 1e6,
        steps: [3, 2, 1, 0].flatMap((back) => spansOf(step - back)),
      });
    }
    recent[seen % WINDOW] = ns;
    seen += 1;
    if (seen % REFRESH === 0) measure();
  }

  timer.on("report", onReport);
  return () => void timer.off("report", onReport);
}
