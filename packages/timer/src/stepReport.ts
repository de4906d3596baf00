import type { Causes } from "./causes/causeProbe.ts";
import { formatReport } from "./formatReport.ts";
import type { TimerInternals } from "./internals.ts";
import { readSections } from "./readSections.ts";
import type { Report, ReportSnapshot } from "./report.ts";
import { STEP_SLOT } from "./stepTotals.ts";

/** The report of the step that a timer has closed. Sections, lanes and causes are computed when they are first read; until then they cost nothing. */
export class StepReport implements Report {
  step = 0;
  // Halves, so that these are stored as doubles from the start.
  startMs = 0.5;
  ms = 0.5;
  residualMs = 0.5;
  overheadUs = 0.5;
  unbalanced = 0;
  dropped = 0;
  tags: readonly string[] = [];
  readonly #internals: TimerInternals;
  #known: ReportSnapshot | null = null;

  constructor(internals: TimerInternals) {
    this.#internals = internals;
  }

  /** It tells of another step from now on. */
  renew(): void {
    this.#known = null;
  }
  snapshot(): ReportSnapshot {
    const { replay } = this.#internals;
    return (this.#known ??= Object.assign({}, this, {
      causes: replay.causes?.(STEP_SLOT) ?? null,
      sections: readSections(this.#internals),
      lanes: replay.lanes(),
    }));
  }
  get causes(): Causes | null {
    return this.snapshot().causes;
  }
  get sections(): ReportSnapshot["sections"] {
    return this.snapshot().sections;
  }
  get lanes(): ReportSnapshot["lanes"] {
    return this.snapshot().lanes;
  }
  toJSON(): ReportSnapshot {
    return this.snapshot();
  }
  toString(): string {
    return formatReport(this.snapshot());
  }
}
