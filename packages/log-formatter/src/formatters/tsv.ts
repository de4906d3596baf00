import { createNames } from "../createNames.ts";
import {
  createLine,
  encode,
  type LineBuffer,
  prepare,
  put,
  putAgain,
  putNumber,
  putText,
  putTime,
} from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { percentEncodeName, percentEncodeText } from "../percentEncode.ts";
import type { SectionRecord, StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";
import { leftover } from "./leftover.ts";
import { columnNames, type Columns, columnsOf, type Extra, own } from "./tsvColumns.ts";

const tab = 9;
const newline = 10;
const null3 = prepare("\tnull\tnull\tnull");

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
  const from = putTab(b, at);
  const to = putTime(b, from, section.ms);
  at = putTab(b, to);
  at = section.self_ms === section.ms ? putAgain(b, at, from, to) : putTime(b, at, section.self_ms);
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
