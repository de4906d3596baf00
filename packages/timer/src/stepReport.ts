import { formatReport } from "./formatReport.ts";
import { createStepReader, type StepSource } from "./readStep.ts";
import type { Causes } from "./causes.ts";
import type { Report, ReportSnapshot } from "./report.ts";

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
  readonly #read: (report: StepReport) => ReportSnapshot;
  #known: ReportSnapshot | null = null;

  constructor(source: StepSource) {
    this.#read = createStepReader(source);
  }

  /** It tells of another step from now on. */
  renew(): void {
    this.#known = null;
  }

  snapshot(): ReportSnapshot {
    return (this.#known ??= this.#read(this));
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
