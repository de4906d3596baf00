import { createNames } from "../createNames.ts";
import { createLine, type LineBuffer, type Prepared, prepare, put, putNumber, putText, putTime } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { percentEncodeName, percentEncodeText, sectionPath } from "../percentEncode.ts";
import { putSection, type SectionKeys } from "../putSection.ts";
import type { LogRecord, StepRecord } from "../record.ts";

const key = {
  step: prepare("kind=step step="),
  attempt: prepare(" attempt="),
  t: prepare(" t_ms="),
  ms: prepare(" ms="),
  residual: prepare(" residual_ms="),
  overhead: prepare(" ov_us="),
  noVerdict: prepare(" verdict=null"),
  share: prepare(" verdict.share="),
  confidence: prepare(" verdict.confidence="),
  end: prepare("\n"),
};
const sectionKeys = createNames((name): SectionKeys => {
  const field = (of: string): Prepared => prepare(` ${sectionPath(name)}.${of}=`);
  return {
    ms: field("ms"),
    self_ms: field("self_ms"),
    n: field("n"),
    device_ms: field("device_ms"),
    sync_ms: field("sync_ms"),
    gc_ms: field("gc_ms"),
    stall_ms: field("stall_ms"),
    kernels: field("kernels"),
    new_bytes: field("new_bytes"),
    new_shapes: field("new_shapes"),
    tensors: field("tensors"),
    tokens: field("tokens"),
    flops: field("flops"),
    bytes: field("bytes"),
    reason: field("reason"),
  };
});
const laneKeys = createNames((name) => {
  const path = ` lanes.${percentEncodeName(name)}`;
  return { busy: prepare(`${path}.busy_ms=`), wait: prepare(`${path}.wait_ms=`), overlap: prepare(`${path}.overlap=`) };
});
const metricKey = createNames((name) => prepare(` metrics.${percentEncodeName(name)}=`));
const gaugeKey = createNames((name) => prepare(` gauges.${percentEncodeName(name)}=`));

/** One line of `key=value` pairs a record; a key is the value's path in the record, without `sections.`. */
export function logfmt(): LogFormatter {
  return { header: whole, step: createLine(putStep), late: whole, summary: whole, event: whole };
}

function putStep(b: LineBuffer, record: StepRecord): number {
  let at = putNumber(b, put(b, 0, key.step), record.step);
  at = putNumber(b, put(b, at, key.attempt), record.attempt);
  at = putTime(b, put(b, at, key.t), record.t_ms);
  at = putTime(b, put(b, at, key.ms), record.ms);
  at = putTime(b, put(b, at, key.residual), record.residual_ms);
  at = putTime(b, put(b, at, key.overhead), record.ov_us);
  for (const name in record.sections) at = putSection(b, at, record.sections[name]!, sectionKeys(name), quote);
  for (const name in record.lanes) {
    const lane = record.lanes[name]!;
    const keys = laneKeys(name);
    at = putTime(b, put(b, at, keys.busy), lane.busy_ms);
    at = putTime(b, put(b, at, keys.wait), lane.wait_ms);
    at = putNumber(b, put(b, at, keys.overlap), lane.overlap);
  }
  if (record.verdict === null) at = put(b, at, key.noVerdict);
  else {
    at = putText(b, at, ` verdict.cause=${quote(record.verdict.cause)}`);
    at = putNumber(b, put(b, at, key.share), record.verdict.share);
    at = putNumber(b, put(b, at, key.confidence), record.verdict.confidence);
  }
  for (const name in record.metrics) at = putNumber(b, put(b, at, metricKey(name)), record.metrics[name]!);
  for (const name in record.gauges) at = putNumber(b, put(b, at, gaugeKey(name)), record.gauges[name]!);
  if (record.tags.length > 0) at = putText(b, at, pairs("tags", record.tags));
  if (record.nonfinite !== undefined) at = putText(b, at, pairs("nonfinite", record.nonfinite));
  return put(b, at, key.end);
}

function whole(record: LogRecord): string {
  return `${pairs("", record).trimStart()}\n`;
}

/** Every leaf of a value as ` path=value`; empty lists and objects as `[]` and `{}`, a cycle cut with a note. */
function pairs(path: string, value: unknown, above: readonly object[] = []): string {
  if (typeof value !== "object" || value === null) return ` ${path}=${leaf(value)}`;
  if (above.includes(value)) return ` ${path}="[circular]"`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined && typeof item !== "function");
  if (entries.length === 0) return ` ${path}=${Array.isArray(value) ? "[]" : "{}"}`;
  const prefix = path === "" ? "" : `${path}.`;
  return entries.map(([name, item]) => pairs(prefix + percentEncodeName(name), item, [...above, value])).join("");
}

function leaf(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  return typeof value === "string" || typeof value === "bigint" ? quote(String(value)) : String(value);
}

/** In quotes only where a reader needs them. */
function quote(value: string): string {
  const text = percentEncodeText(value);
  return /^[^\s=]+$/.test(text) ? text : `"${text}"`;
}
