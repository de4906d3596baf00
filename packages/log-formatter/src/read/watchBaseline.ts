import type { EventRecord, StepRecord } from "../record.ts";
import type { RunTimes } from "./sectionTimes.ts";

/** When a section counts as slower. */
export interface WatchBaselineOptions {
  /** Growth of the median that is reported; 0.1 is ten percent, the default. */
  threshold?: number;
}

/** Steps that a median is taken over. */
const windowSteps = 20;
/** A section smaller than this share of the baseline's step is not worth an alarm. */
const leastShareOfStep = 0.01;

interface Watched {
  readonly median: number;
  /** Above it a step is slow. */
  readonly limit: number;
  readonly recent: { step: number; ms: number }[];
  reported: boolean;
}

/**
 * Compares a run with an earlier one while it goes on: called with each step, it returns a `baseline` event for each section
 * whose median over the last 20 steps rose past the threshold; again only after it had come back.
 */
export function watchBaseline(
  baseline: RunTimes,
  { threshold = 0.1 }: WatchBaselineOptions = {},
): (record: StepRecord) => EventRecord[] {
  const least = (baseline.get("(step)")?.median ?? 0) * leastShareOfStep;
  const watched = new Map(
    [...baseline]
      .filter(([, { median }]) => median > least)
      .map(([name, { median, p75 }]): [string, Watched] => [
        name,
        { median, limit: Math.max(median * (1 + threshold), p75), recent: [], reported: false },
      ]),
  );
  return (record) => {
    const events: EventRecord[] = [];
    for (const [name, section] of watched) {
      const ms = name === "(step)" ? record.ms : name === "(residual)" ? record.residual_ms : record.sections[name]?.ms;
      if (typeof ms !== "number" || !becameSlow(section, record.step, ms)) continue;
      const since = slowSince(section);
      const change = medianOf(section.recent.filter(({ step }) => step >= since)) / section.median - 1;
      const message = `${name} +${Math.round(change * 100)} % against baseline since step ${since}`;
      events.push({
        kind: "event",
        step: record.step,
        name: "baseline",
        data: { message, section: name, change, since },
      });
    }
    return events;
  };
}

/** Takes in a step; true when the median has risen past the limit and this was not reported yet. */
function becameSlow(section: Watched, step: number, ms: number): boolean {
  const { recent, limit } = section;
  recent.push({ step, ms });
  if (recent.length > windowSteps) recent.shift();
  const slow = recent.reduce((count, entry) => count + Number(entry.ms > limit), 0);
  if (recent.length < windowSteps || slow * 2 <= windowSteps) {
    // Come back for good, not by a step or two.
    if (slow * 4 <= windowSteps) section.reported = false;
    return false;
  }
  const first = !section.reported;
  section.reported = true;
  return first;
}

/** The step from which on slow steps outweigh others the most. */
function slowSince({ recent, limit }: Watched): number {
  let since = recent.at(-1)!.step;
  let weight = 0;
  let most = 0;
  for (const { step, ms } of recent.toReversed()) {
    weight += ms > limit ? 1 : -1;
    if (weight > most) [most, since] = [weight, step];
  }
  return since;
}

function medianOf(recent: Watched["recent"]): number {
  const sorted = recent.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
