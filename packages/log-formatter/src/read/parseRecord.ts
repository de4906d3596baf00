import { printable } from "../printable.ts";
import type { LogRecord } from "../record.ts";

const kinds: ReadonlySet<unknown> = new Set(["header", "step", "late", "summary", "event"]);

/**
 * The record in a line of NDJSON; null for a line that is no JSON, a torn one; undefined for a
 * kind that a later minor version may have added.
 * @throws Error that says what is wrong with a line that is JSON and yet no record.
 */
export function parseRecord(line: string): LogRecord | null | undefined {
  const value = jsonOf(line);
  if (value === undefined) return null;
  if (!isObject(value)) throw new Error(`expected a log record, an object with a kind, got ${line.slice(0, 40)}`);
  if (!kinds.has(value["kind"])) {
    if (typeof value["kind"] === "string") return undefined;
    throw new Error("expected a log record, but it has no kind");
  }
  assertRecord(value);
  return value;
}

/** The value in a line of JSON; undefined for one that is none. */
export function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function assertRecord(value: unknown): asserts value is LogRecord {
  const problem = isObject(value) ? problemWith(value) : "an object";
  if (problem !== undefined)
    throw new Error(`expected ${problem} in a ${isObject(value) ? String(value["kind"]) : "log"} record`);
}

/** What the readers rely on, and it lacks. */
function problemWith(record: Record<string, unknown>): string | undefined {
  const { kind, step, sections } = record;
  if (kind === "header") return problemWithHeader(record);
  if (kind !== "summary" && !Number.isInteger(step)) return "a whole number as step";
  if (kind === "event") return typeof record["name"] === "string" ? undefined : "a name";
  if (!isObject(sections) || !Object.values(sections).every(isObject)) return "sections, an object of objects,";
  if (kind === "summary") {
    if (!Number.isInteger(record["from"]) || !Number.isInteger(record["to"])) return "whole numbers as from and to";
    return problemInEach("section", sections, (one) => wrongOf(one, summaryColumns, isTime, "a number or null"));
  }
  if (kind === "late") return problemInEach("section", sections, problemWithColumns);
  return problemWithStep(record) ?? problemInEach("section", sections, problemWithSection);
}

function problemWithHeader(record: Record<string, unknown>): string | undefined {
  const { v, sections } = record;
  if (v !== 1) return `version 1, the only one that this release reads, not ${String(v)},`;
  if (!Array.isArray(sections) || !sections.every(isNamed)) return "a list of named sections";
  if (!sections.every((section) => isText(section["lane"]) && [section["parent"], section["role"]].every(isTextOrNull)))
    return "sections with a lane, a parent and a role";
  if (isCircular(sections)) return "sections that lie in one another, not in themselves,";
  return (
    wrongOf(record, ["run", "host", "start"], isText, "a text") ??
    wrongOf(record, ["attempt", "rank"], Number.isFinite, "a number")
  );
}

function problemWithStep(record: Record<string, unknown>): string | undefined {
  const { lanes, metrics, gauges, verdict } = record;
  const wrong = wrongOf(record, ["attempt", "t_ms", "ms", "residual_ms", "ov_us"], Number.isFinite, "a number");
  if (wrong !== undefined) return wrong;
  if (!isObject(lanes) || !isObject(metrics) || !isObject(gauges))
    return wrongOf(record, ["lanes", "metrics", "gauges"], isObject, "an object");
  if (!isTexts(record["tags"])) return "a list of tags";
  if (!isTexts(record["nonfinite"] ?? [])) return "a list of names as nonfinite";
  if (verdict !== null && !isVerdict(verdict)) return "a verdict or null";
  return (
    problemInEach("lane", lanes, problemWithLane) ??
    wrongOf(metrics, Object.keys(metrics), isTime, "a number or null", "metric ") ??
    wrongOf(gauges, Object.keys(gauges), isTime, "a number or null", "gauge ")
  );
}

const timeColumns = ["ms", "self_ms", "device_ms", "sync_ms", "gc_ms", "stall_ms"];
const countColumns = ["n", "kernels", "new_bytes", "new_shapes", "tensors", "tokens", "flops", "bytes"];
const summaryColumns = ["n", "missing", "sum_ms", "p50", "p90", "p99", "max"];

function problemWithSection(section: Record<string, unknown>): string | undefined {
  return wrongOf(section, ["ms", "self_ms", "n"], isTime, "a number or null") ?? problemWithColumns(section);
}

function problemWithColumns(section: Record<string, unknown>): string | undefined {
  const given = [...timeColumns, ...countColumns].filter((name) => section[name] !== undefined);
  return (
    wrongOf(section, given, isTime, "a number or null") ??
    (isText(section["reason"] ?? "") ? undefined : "a text as reason")
  );
}

function problemWithLane(lane: Record<string, unknown>): string | undefined {
  return (
    wrongOf(lane, ["busy_ms", "wait_ms"], Number.isFinite, "a number") ??
    wrongOf(lane, ["overlap"], isTime, "a number or null")
  );
}

/** The first of the fields that isn't `what`, as what is expected of it. */
function wrongOf(
  record: Record<string, unknown>,
  names: readonly string[],
  is: (value: unknown) => boolean,
  what: string,
  prefix: string = "",
): string | undefined {
  const name = names.find((each) => !is(record[each]));
  return name === undefined ? undefined : `${what} as ${prefix}${shortened(name)}`;
}

function problemInEach(
  what: string,
  record: Record<string, unknown>,
  problemOf: (one: Record<string, unknown>) => string | undefined,
): string | undefined {
  for (const [name, one] of Object.entries(record)) {
    const problem = isObject(one) ? problemOf(one) : "an object";
    if (problem !== undefined) return `${problem} of ${what} ${shortened(name)}`;
  }
  return undefined;
}

function isCircular(sections: readonly Record<string, unknown>[]): boolean {
  const parents = new Map(sections.map((section) => [section["name"], section["parent"]]));
  return sections.some(({ name }) => {
    let [parent, depth] = [parents.get(name), 0];
    while (parent !== undefined && parent !== null && depth++ < sections.length) parent = parents.get(parent);
    return depth > sections.length;
  });
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isTime = (value: unknown): boolean => value === null || Number.isFinite(value);
const isNamed = (value: unknown): value is Record<string, unknown> => isObject(value) && isText(value["name"]);
const isVerdict = (value: unknown): boolean =>
  isObject(value) && isText(value["cause"]) && [value["share"], value["confidence"]].every(Number.isFinite);
const shortened = (name: string): string => printable(name.length > 80 ? `${name.slice(0, 79)}…` : name);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
