import { createLine, type LineBuffer } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { putStepJson } from "../putStepJson.ts";
import type { LogRecord, StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";

const newline = 10;

/** One JSON object a line, exactly the record: times to the nanosecond, other numbers in full. */
export function ndjson(): LogFormatter {
  return { header: whole, step: createLine(putStep), late: whole, summary: whole, event: whole };
}

function whole(record: LogRecord): string {
  return `${toJson(record)}\n`;
}

function putStep(b: LineBuffer, record: StepRecord): number {
  const at = putStepJson(b, 0, record);
  b.bytes[at] = newline;
  return at + 1;
}
