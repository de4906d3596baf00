import {
  createLine,
  createNames,
  encode,
  type LineBuffer,
  prepare,
  put,
  putNumber,
  putText,
  putTime,
} from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { percentEncodeName, percentEncodeText, sectionPath } from "../percentEncode.ts";
import type { SectionRecord, StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";

type Extra = Exclude<keyof SectionRecord, "ms" | "self_ms" | "n">;
const extras = [
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
const tab = 9;
const newline = 10;
const null3 = prepare("\tnull\tnull\tnull");

/** The columns of a file: what the header and the first step know. */
interface Columns {
  readonly sections: ReadonlyMap<string, readonly Extra[]>;
  readonly lanes: ReadonlySet<string>;
  readonly metrics: ReadonlySet<string>;
  readonly gauges: ReadonlySet<string>;
}

/**
 * A table: one row a step under one line of column names, fixed by the first step. A cell is empty where the record has no such
 * value (or an empty text) and `null` where it is null; what has no column stands in the last one, `more`, as JSON.
 */
export function tsv(): LogFormatter {
  let registered: string[] = [];
  let columns: Columns | undefined;
  const row = createLine((b: LineBuffer, record: StepRecord) => putRow(b, record, columns!));
  return {
    form: "document",
    header(record) {
      registered = record.sections.map(({ name }) => name);
      columns = undefined;
      return "";
    },
    step(record) {
      if (columns !== undefined) return row(record);
      columns = columnsOf(record, registered);
      const line = row(record);
      const names = encode(`${columnNames(columns).join("\t")}\n`);
      const both = new Uint8Array(names.length + line.length);
      both.set(names);
      both.set(line, names.length);
      return both;
    },
    preamble: () => (columns === undefined ? "" : `${columnNames(columns).join("\t")}\n`),
  };
}

function columnsOf(record: StepRecord, registered: readonly string[]): Columns {
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

function columnNames({ sections, lanes, metrics, gauges }: Columns): string[] {
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

function putRow(b: LineBuffer, record: StepRecord, columns: Columns): number {
  let at = putNumber(b, 0, record.step);
  at = putNumber(b, putTab(b, at), record.attempt);
  at = putTime(b, putTab(b, at), record.t_ms);
  at = putTime(b, putTab(b, at), record.ms);
  at = putTime(b, putTab(b, at), record.residual_ms);
  at = putTime(b, putTab(b, at), record.ov_us);
  for (const [name, extrasOf] of columns.sections) at = putSectionCells(b, at, own(record.sections, name), extrasOf);
  for (const name of columns.lanes) {
    const lane = own(record.lanes, name);
    at = putTab(b, at);
    if (lane !== undefined) at = putTime(b, at, lane.busy_ms);
    at = putTab(b, at);
    if (lane !== undefined) at = putTime(b, at, lane.wait_ms);
    at = putTab(b, at);
    if (lane !== undefined) at = putNumber(b, at, lane.overlap);
  }
  at = putVerdict(b, at, record.verdict);
  at = putValues(b, at, record.metrics, columns.metrics);
  at = putValues(b, at, record.gauges, columns.gauges);
  at = putList(b, putTab(b, at), record.tags);
  at = putList(b, putTab(b, at), record.nonfinite ?? []);
  at = putTab(b, at);
  const more = leftover(record, columns);
  if (more !== undefined) at = putText(b, at, toJson(more));
  b.bytes[at] = newline;
  return at + 1;
}

/** The value of a name, not of `constructor` and the like that every object has. */
function own<T>(of: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function putTab(b: LineBuffer, at: number): number {
  b.bytes[at] = tab;
  return at + 1;
}

function putSectionCells(
  b: LineBuffer,
  at: number,
  section: SectionRecord | undefined,
  listed: readonly Extra[],
): number {
  if (section === undefined) {
    for (let cells = 3 + listed.length; cells > 0; cells--) at = putTab(b, at);
    return at;
  }
  at = putTime(b, putTab(b, at), section.ms);
  at = putTime(b, putTab(b, at), section.self_ms);
  at = putNumber(b, putTab(b, at), section.n);
  for (const extra of listed) {
    const value = section[extra];
    at = putTab(b, at);
    if (typeof value === "string") at = putText(b, at, percentEncodeText(value));
    else if (value !== undefined) at = extra.endsWith("_ms") ? putTime(b, at, value) : putNumber(b, at, value);
  }
  return at;
}

const causeCell = createNames((cause) => prepare(`\t${percentEncodeText(cause)}`));

function putVerdict(b: LineBuffer, at: number, verdict: StepRecord["verdict"]): number {
  if (verdict === null) return put(b, at, null3);
  at = put(b, at, causeCell(verdict.cause));
  at = putNumber(b, putTab(b, at), verdict.share);
  return putNumber(b, putTab(b, at), verdict.confidence);
}

function putValues(
  b: LineBuffer,
  at: number,
  values: Record<string, number | null>,
  names: ReadonlySet<string>,
): number {
  for (const name of names) {
    const value = own(values, name);
    at = putTab(b, at);
    if (value !== undefined) at = putNumber(b, at, value);
  }
  return at;
}

function putList(b: LineBuffer, at: number, list: readonly string[]): number {
  return list.length === 0 ? at : putText(b, at, list.map(percentEncodeName).join(","));
}

type Group = "sections" | "lanes" | "metrics" | "gauges";
type More = Map<Group, Map<string, unknown>>;

/** What a record has and the columns lack, in the record's own form; undefined if nothing. */
function leftover(record: StepRecord, columns: Columns): object | undefined {
  let more: More | undefined;
  for (const name in record.sections) {
    const section = record.sections[name]!;
    const listed = columns.sections.get(name);
    if (listed === undefined) more = keep(more, "sections", name, section);
    else if (countExtras(section) > listed.length || listed.some((extra) => section[extra] === undefined)) {
      const others = extras.filter((extra) => section[extra] !== undefined && !listed.includes(extra));
      if (others.length > 0)
        more = keep(more, "sections", name, Object.fromEntries(others.map((extra) => [extra, section[extra]])));
    }
  }
  for (const name in record.lanes) if (!columns.lanes.has(name)) more = keep(more, "lanes", name, record.lanes[name]);
  for (const name in record.metrics)
    if (!columns.metrics.has(name)) more = keep(more, "metrics", name, record.metrics[name]);
  for (const name in record.gauges)
    if (!columns.gauges.has(name)) more = keep(more, "gauges", name, record.gauges[name]);
  return more && Object.fromEntries([...more].map(([group, values]) => [group, Object.fromEntries(values)]));
}

function keep(more: More = new Map(), group: Group, name: string, value: unknown): More {
  more.set(group, (more.get(group) ?? new Map<string, unknown>()).set(name, value));
  return more;
}

/** Spelled out, since this runs for each section of each step. */
function countExtras(section: SectionRecord): number {
  return (
    Number(section.device_ms !== undefined) +
    Number(section.sync_ms !== undefined) +
    Number(section.gc_ms !== undefined) +
    Number(section.stall_ms !== undefined) +
    Number(section.kernels !== undefined) +
    Number(section.new_bytes !== undefined) +
    Number(section.new_shapes !== undefined) +
    Number(section.tensors !== undefined) +
    Number(section.tokens !== undefined) +
    Number(section.flops !== undefined) +
    Number(section.bytes !== undefined) +
    Number(section.reason !== undefined)
  );
}
