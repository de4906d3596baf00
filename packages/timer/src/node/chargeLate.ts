import type { LateColumns, Report } from "../report.ts";
import type { Span } from "../spans/span.ts";
import type { Timer } from "../timer.ts";
import { readSpans } from "../spans/readSpans.ts";
import { innermost } from "./innermost.ts";

/** A stretch of time on the timer's clock, ms. */
export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** How long after a step its intervals may still come in: turns of the event loop. */
const TURNS = 2;

/**
 * Charges intervals to the sections that were innermost in them, as a late column: after each step, once the event loop has turned.
 * Steps whose spans are no longer held by then stay null.
 *
 * @returns a function that stops it.
 */
export function chargeLate(
  timer: Timer,
  column: keyof LateColumns,
  intervals: () => readonly Interval[],
  counts: (section: string) => boolean,
): () => void {
  timer.expectLate(column);
  const waiting: { step: number; startMs: number; ms: number }[] = [];

  function settle(): void {
    const known = intervals();
    for (const { step, startMs, ms } of waiting.splice(0)) {
      const spans = readSpans(timer, { startMs, ms });
      if (!spans) continue;
      const times = new Map<string, number>();
      for (const { name, local } of spans) if (local && counts(name)) times.set(name, 0);
      for (const interval of known) {
        if (interval.endMs > startMs && interval.startMs < startMs + ms)
          charge(spans, Math.max(interval.startMs, startMs), Math.min(interval.endMs, startMs + ms), times);
      }
      timer.late(step, Object.fromEntries([...times].map(([name, time]) => [name, { [column]: time }])));
    }
  }

  function onReport({ step, startMs, ms }: Report): void {
    if (waiting.push({ step, startMs, ms }) > 1) return;
    let turns = TURNS;
    const turn = (): void => {
      turns -= 1;
      if (turns > 0) setImmediate(turn);
      else settle();
    };
    setImmediate(turn);
  }

  timer.on("report", onReport);
  return () => void timer.off("report", onReport);
}

/** Cuts an interval at the boundaries of spans, so that each piece has one innermost span. */
function charge(spans: readonly Span[], startMs: number, endMs: number, times: Map<string, number>): void {
  const cuts = spans
    .flatMap((span) => [span.startMs, span.startMs + span.ms])
    .filter((ms) => ms > startMs && ms < endMs);
  const edges = [startMs, ...cuts.toSorted((a, b) => a - b), endMs];
  for (let i = 1; i < edges.length; i += 1) {
    const name = innermost(spans, (edges[i - 1]! + edges[i]!) / 2)?.name;
    const known = name === undefined ? undefined : times.get(name);
    if (name !== undefined && known !== undefined) times.set(name, known + edges[i]! - edges[i - 1]!);
  }
}
