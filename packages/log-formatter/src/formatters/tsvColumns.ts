import { percentEncodeName, sectionPath } from "../percentEncode.ts";
import type { SectionRecord, StepRecord } from "../record.ts";

/** Fields of a section that not every step has. */
export type Extra = Exclude<keyof SectionRecord, "ms" | "self_ms" | "n">;
/** All of them, in the order of their columns. */
export const extras = [
  "device_ms",
  "sync_ms",
  "gc_ms",
  "stall_ms",
  "kernels",
  "new_bytes",
  "new_shapes",
  "tensors",
  "tokens",
  "flops",
  "bytes",
  "reason",
] as const satisfies readonly Extra[];
/** The columns of a file: what the header and the first step know. */
export interface Columns {
  readonly sections: ReadonlyMap<string, readonly Extra[]>;
  readonly lanes: ReadonlySet<string>;
  readonly metrics: ReadonlySet<string>;
  readonly gauges: ReadonlySet<string>;
}

/** The columns that a header and the first step make. */
export function columnsOf(record: StepRecord, registered: readonly string[]): Columns {
  const names = new Set([...registered, ...Object.keys(record.sections)]);
  const sections = [...names].map(
    (name) => [name, extras.filter((extra) => own(record.sections, name)?.[extra] !== undefined)] as const,
  );
  return {
    sections: new Map(sections),
    lanes: new Set(Object.keys(record.lanes)),
    metrics: new Set(Object.keys(record.metrics)),
    gauges: new Set(Object.keys(record.gauges)),
  };
}

/** What stands over them. */
export function columnNames({ sections, lanes, metrics, gauges }: Columns): string[] {
  const ofSections = [...sections].flatMap(([name, listed]) =>
    ["ms", "self_ms", "n", ...listed].map((field) => `${sectionPath(name)}.${field}`),
  );
  return ["step", "attempt", "t_ms", "ms", "residual_ms", "ov_us"].concat(
    ofSections,
    paths("lanes", lanes, [".busy_ms", ".wait_ms", ".overlap"]),
    ["verdict.cause", "verdict.share", "verdict.confidence"],
    paths("metrics", metrics, [""]),
    paths("gauges", gauges, [""]),
    ["tags", "nonfinite", "more"],
  );
}

function paths(group: string, names: Iterable<string>, fields: readonly string[]): string[] {
  return [...names].flatMap((name) => fields.map((field) => `${group}.${percentEncodeName(name)}${field}`));
}

/** The value of a name, not of `constructor` and the like that every object has. */
export function own<T>(of: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}
