import type { Span } from "../spans/span.ts";

/** The span of the timer's own thread that was innermost at a time (ms): of those open then the one that began last. */
export function innermost(spans: readonly Span[], ms: number): Span | undefined {
  let found: Span | undefined;
  for (const span of spans) {
    if (!span.local || span.depth === null || span.startMs > ms || span.startMs + span.ms <= ms) continue;
    if (!found || span.startMs > found.startMs || (span.startMs === found.startMs && span.ms <= found.ms)) found = span;
  }
  return found;
}
