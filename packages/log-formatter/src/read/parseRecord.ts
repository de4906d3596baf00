import type { LogRecord } from "../record.ts";

const kinds: ReadonlySet<unknown> = new Set(["header", "step", "late", "summary", "event"]);

/**
 * The record in a line of NDJSON; null for a line that is no JSON, a torn one; undefined for a
 * kind that a later minor version may have added.
 * @throws Error that says what is wrong with a line that is JSON and yet no record.
 */
export function parseRecord(line: string): LogRecord | null | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(value)) throw new Error(`expected a log record, an object with a kind, got ${line.slice(0, 40)}`);
  if (!kinds.has(value["kind"])) {
    if (typeof value["kind"] === "string") return undefined;
    throw new Error("expected a log record, but it has no kind");
  }
  assertRecord(value);
  return value;
}

function assertRecord(value: unknown): asserts value is LogRecord {
  const problem = isObject(value) ? problemWith(value) : "an object";
  if (problem !== undefined)
    throw new Error(`expected ${problem} in a ${isObject(value) ? String(value["kind"]) : "log"} record`);
}

/** What the readers rely on, and it lacks. */
function problemWith(record: Record<string, unknown>): string | undefined {
  const { kind, v, step, from, to, sections } = record;
  if (kind === "header") {
    if (v !== 1) return `version 1, the only one that this release reads, not ${String(v)},`;
    if (!Array.isArray(sections) || !sections.every((one) => isObject(one) && typeof one["name"] === "string"))
      return "a list of named sections";
    const text = ["run", "host", "start"].find((name) => typeof record[name] !== "string");
    if (text !== undefined) return `a text as ${text}`;
    const number = ["attempt", "rank"].find((name) => typeof record[name] !== "number");
    return number === undefined ? undefined : `a number as ${number}`;
  }
  if (kind !== "summary" && !Number.isInteger(step)) return "a whole number as step";
  if (kind === "event") return typeof record["name"] === "string" ? undefined : "a name";
  if (!isObject(sections) || !Object.values(sections).every(isObject)) return "sections, an object of objects,";
  if (kind === "summary")
    return Number.isInteger(from) && Number.isInteger(to) ? undefined : "whole numbers as from and to";
  if (kind === "late") return undefined;
  const wrong = ["attempt", "t_ms", "ms", "residual_ms", "ov_us"].find((name) => typeof record[name] !== "number");
  if (wrong !== undefined) return `a number as ${wrong}`;
  const group = ["lanes", "metrics", "gauges"].find((name) => !isObject(record[name]));
  if (group !== undefined) return `an object as ${group}`;
  if (!Array.isArray(record["tags"])) return "a list of tags";
  return record["verdict"] === null || isObject(record["verdict"]) ? undefined : "a verdict or null";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
