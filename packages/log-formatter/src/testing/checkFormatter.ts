import type { LogChunk, LogFormatter, LogFormatterFactory } from "../logFormatter.ts";
import type { LogRecord } from "../record.ts";
import { toJson } from "../toJson.ts";
import { hostileRecords } from "./hostileRecords.ts";

const target = { color: false, columns: 80 };
/* oxlint-disable-next-line no-control-regex -- looks for control characters */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/**
 * Feeds a formatter with records of odd names and numbers, missing values, and an order that a run would not have.
 * @throws Error naming the record and what the formatter did that `attachLog` would switch it off for, or that would spoil a
 * file: it threw, returned no chunk, changed the record, let a control character through, or left a line open.
 */
export function checkFormatter(factory: LogFormatterFactory): void {
  const formatter = factory(target);
  for (const record of hostileRecords()) {
    const what = `${record.kind} record ${describe(record)}`;
    check(() => call(formatter, freeze(record)), formatter, what);
    // Alone and first, it may meet another state.
    const fresh = factory(target);
    check(() => call(fresh, record), fresh, `${what} as the first one`);
  }
  check(() => formatter.preamble?.() ?? "", formatter, "preamble");
  check(() => formatter.close?.() ?? "", formatter, "close");
}

function call(formatter: LogFormatter, record: LogRecord): LogChunk {
  if (record.kind === "step") return formatter.step(record);
  if (record.kind === "header") return formatter.header?.(record) ?? "";
  if (record.kind === "late") return formatter.late?.(record) ?? "";
  if (record.kind === "summary") return formatter.summary?.(record) ?? "";
  return formatter.event?.(record) ?? "";
}

function check(run: () => LogChunk, { form = "lines" }: LogFormatter, what: string): void {
  let chunk: LogChunk;
  try {
    chunk = run();
  } catch (error) {
    throw new Error(`formatter: ${what}: it threw: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) {
    throw new TypeError(
      `formatter: ${what}: it returned ${chunk === null ? "null" : typeof chunk}, not a string or bytes`,
    );
  }
  // Bytes of a document may be of any kind.
  if (form === "document" && typeof chunk !== "string") return;
  const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  const found = control.exec(text);
  if (found !== null) {
    throw new Error(
      `formatter: ${what}: control character ${toJson(found[0])} in ${toJson(text.slice(Math.max(0, found.index - 20), found.index + 20))}; replace them, names and texts may hold any`,
    );
  }
  if (form === "lines" && text !== "" && !text.endsWith("\n"))
    throw new Error(`formatter: ${what}: no line end after ${toJson(text.slice(-40))}`);
}

function describe(record: LogRecord): string {
  return record.kind === "header"
    ? toJson(record.run)
    : record.kind === "summary"
      ? `${record.from}-${record.to}`
      : String(record.step);
}

/** So that a change throws. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
  return value;
}
