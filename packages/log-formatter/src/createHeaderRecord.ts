import { hostname } from "node:os";
import type { HeaderRecord } from "./record.ts";

/** What only the run itself knows of its header. */
export interface HeaderRecordOptions {
  /** Name of the run. */
  run: string;
  /** From 1 (default); a resumed run is the next attempt. */
  attempt?: number;
  /** Process of a distributed run; 0 by default. */
  rank?: number;
  /** Every section, in order of registration. */
  sections: HeaderRecord["sections"];
  /** What the timer measured of itself at start. */
  calibration: HeaderRecord["calibration"];
  /** The resolved configuration. */
  config?: unknown;
}

/** The header of an attempt that starts now, on this host, in this process. */
export function createHeaderRecord(options: HeaderRecordOptions): HeaderRecord {
  return {
    kind: "header",
    v: 1,
    run: options.run,
    attempt: options.attempt ?? 1,
    rank: options.rank ?? 0,
    host: hostname(),
    pid: process.pid,
    start: new Date().toISOString(),
    sections: options.sections,
    calibration: options.calibration,
    config: options.config ?? null,
  };
}
