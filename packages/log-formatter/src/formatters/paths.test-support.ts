import type * as fc from "fast-check";
import { anyStep } from "../record.test-support.ts";
import type { StepRecord } from "../record.ts";

/** Undoes the percent encoding of names and text. */
function decode(text: string): string {
  return decodeURIComponent(text);
}

const numeric = (text: string): number | null => (text === "null" ? null : Number(text));
const counts = new Set([
  "ms",
  "self_ms",
  "n",
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
]);

function nested(group: [string, unknown][], name: string, field: string, value: unknown): void {
  let entry = group.find(([known]) => known === name);
  if (entry === undefined) group.push((entry = [name, {}]));
  (entry[1] as Record<string, unknown>)[field] = value;
}

/** The step behind `path → text` pairs of logfmt or a row of TSV, rebuilt from the documented rules alone. */
export function fromPaths(paths: Readonly<Record<string, unknown>>): StepRecord {
  const groups: Record<string, [string, unknown][]> = { sections: [], lanes: [], metrics: [], gauges: [] };
  const record: Record<string, unknown> = { kind: "step", tags: [], verdict: null };
  const list = (name: string, value: string): void =>
    void (record[name] = [...((record[name] as string[] | undefined) ?? []), decode(value)]);
  for (const [path, raw] of Object.entries(paths)) {
    const text = typeof raw === "string" ? raw : "";
    const parts = path.split(".");
    const [first, second, third] = parts as [string, string, string];
    if (parts.length === 1) {
      if (path === "kind" || path === "verdict") continue;
      record[path] = numeric(text);
    } else if (first === "lanes") nested(groups["lanes"]!, decode(second), third, numeric(text));
    else if (first === "metrics" || first === "gauges") groups[first]!.push([decode(second), numeric(text)]);
    else if (first === "tags" || first === "nonfinite") list(first, text);
    else if (first === "verdict")
      record["verdict"] = {
        ...(record["verdict"] as object | null),
        [second]: second === "cause" ? decode(text) : numeric(text),
      };
    else nested(groups["sections"]!, decode(first), second, counts.has(second) ? numeric(text) : decode(text));
  }
  for (const [name, entries] of Object.entries(groups)) record[name] = Object.fromEntries(entries);
  return record as unknown as StepRecord;
}

/** A record as text formats can carry it: lone surrogates are U+FFFD, -0 is 0; of two names that become one, the last stays. */
export function wellFormed<T>(value: T): T {
  const change = (item: unknown): unknown => {
    if (typeof item === "string")
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(item));
    if (Array.isArray(item)) return item.map(change);
    if (typeof item === "object" && item !== null)
      return Object.fromEntries(Object.entries(item).map(([name, of]) => [change(name), change(of)]));
    return item === 0 ? 0 : item;
  };
  return change(value) as T;
}

/** Steps whose names are still distinct once their lone surrogates are replaced. */
export const distinctStep: fc.Arbitrary<StepRecord> = anyStep.filter(({ sections, lanes, metrics, gauges }) =>
  [sections, lanes, metrics, gauges].every(
    (group) => Object.keys(group).length === Object.keys(wellFormed(group)).length,
  ),
);
