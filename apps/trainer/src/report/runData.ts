import type { SlowStep } from "@dflash/timer/spans";

/** Values over the bins of a run; null where no step of a bin has one. */
export type Series = readonly (number | null)[];

/** A section over the whole run. */
export interface SectionData {
  readonly name: string;
  readonly parent: string | null;
  readonly lane: string;
  readonly role: string | null;
  /** Runs in other threads than the steps, so that it is no part of their time. */
  readonly beside: boolean;
  /** Sum of the time in it and in no section inside it, ms. */
  readonly selfMs: number;
  /** Of the whole section in a step, ms; null when no step measured it. */
  readonly p50: number | null;
  readonly p99: number | null;
}

/** A lane over the bins: shares of the steps' time. */
export interface LaneData {
  readonly busy: Series;
  readonly wait: Series;
  readonly overlap: Series;
}

/** Something that happened at a step. */
export interface Mark {
  readonly step: number;
  readonly name: string;
  /** What is known of it, in one line. */
  readonly text: string;
}

/** What a setting would change, as a replay of the recorded steps has it. */
export interface Prediction {
  /** As flags of `dflash train`. */
  readonly flags: string;
  readonly tokensPerSecond: number;
  /** Tokens a second over those of a replay of the run as it was. */
  readonly ratio: number;
}

/** What held a run back. */
export interface Judgement {
  readonly cause: string;
  /** Of the time. */
  readonly share: number;
  readonly confidence: number;
  /** Part of the judged steps whose verdict it is. */
  readonly steps: number;
  /** One line: what to change; null for a cause that is not known here. */
  readonly advice: string | null;
  readonly predictions: readonly Prediction[];
}

/** A run as the report shows it: series of bounded length, however many steps it has. */
export interface RunData {
  readonly name: string;
  /** Start of the first attempt, ISO 8601. */
  readonly start: string;
  readonly host: string;
  readonly attempts: number;
  readonly steps: number;
  /** Wall time of all steps, ms, and its part in no section. */
  readonly totalMs: number;
  readonly residualMs: number;
  /** What the telemetry itself cost, ms. */
  readonly overheadMs: number;
  readonly tokens: number;
  /** First and last step of each bin. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Mean time of a step, ms, and of a step in no section. */
  readonly stepMs: Series;
  readonly residual: Series;
  readonly sections: readonly SectionData[];
  /** Mean self time a step, ms, by section. */
  readonly selfMs: Readonly<Record<string, Series>>;
  readonly lanes: Readonly<Record<string, LaneData>>;
  readonly metrics: Readonly<Record<string, Series>>;
  readonly gauges: Readonly<Record<string, Series>>;
  /** Of a step, ms. */
  readonly percentiles: { readonly p50: number | null; readonly p90: number | null; readonly p99: number | null };
  readonly judgement: Judgement | null;
  /** The slowest of the slow steps, slowest first. */
  readonly slow: readonly SlowStep[];
  readonly marks: readonly Mark[];
  readonly config: Readonly<Record<string, unknown>>;
}

/** What the page is made of. */
export interface PageData {
  readonly runs: readonly RunData[];
  /** Asks its server for newer data. */
  readonly live: boolean;
}
