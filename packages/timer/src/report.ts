import { formatReport } from "./formatReport.ts";
import { createStepReader, type StepSource } from "./readStep.ts";
import type { Causes, Report, ReportSnapshot } from "./timer.ts";

/** The report of the step that a source holds. Sections, lanes and causes are computed when they are first read; until then they cost nothing. */
export class StepReport implements Report {
  readonly #source: StepSource;
  readonly #read: () => ReportSnapshot;
  #known: ReportSnapshot | null = null;

  constructor(source: StepSource) {
    this.#source = source;
    this.#read = createStepReader(source);
  }

  /** The source holds another step. */
  renew(): void {
    this.#known = null;
  }

  snapshot(): ReportSnapshot {
    this.#known ??= this.#read();
    return this.#known;
  }
  get step(): number {
    return this.#source.step;
  }
  get startMs(): number {
    return this.#source.startMs;
  }
  get ms(): number {
    return this.#source.ms;
  }
  get residualMs(): number {
    return this.#source.residualMs;
  }
  get overheadUs(): number {
    return this.#source.overheadUs;
  }
  get unbalanced(): number {
    return this.#source.unbalanced;
  }
  get dropped(): number {
    return this.#source.dropped;
  }
  get tags(): readonly string[] {
    return this.#source.tags;
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
