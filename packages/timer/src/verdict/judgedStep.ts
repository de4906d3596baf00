import type { LateReport, ReportSnapshot } from "../report.ts";

/** What a verdict knows of one step. */
export interface JudgedStep {
  /** What the timer reported. */
  readonly report: ReportSnapshot;
  /** Columns that came after the report. */
  readonly late?: LateReport["sections"];
  /** Items that were ready in the queue when the own lane began to wait for it; null or left out where unknown. */
  readonly ready?: number | null;
}
