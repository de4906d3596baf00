import { createNames } from "./createNames.ts";
import { type LineBuffer, prepare, put, putNumber, putText, putTime } from "./lineBytes.ts";
import { putSection, type SectionKeys } from "./putSection.ts";
import type { StepRecord } from "./record.ts";
import { toJson } from "./toJson.ts";

const comma = 44;
const brace = 125;
const key = {
  step: prepare('{"kind":"step","step":'),
  attempt: prepare(',"attempt":'),
  t: prepare(',"t_ms":'),
  ms: prepare(',"ms":'),
  residual: prepare(',"residual_ms":'),
  overhead: prepare(',"ov_us":'),
  sections: prepare(',"sections":{'),
  lanes: prepare('},"lanes":{'),
  wait: prepare(',"wait_ms":'),
  overlap: prepare(',"overlap":'),
  noVerdict: prepare('},"verdict":null'),
  share: prepare(',"share":'),
  confidence: prepare(',"confidence":'),
  metrics: prepare(',"metrics":{'),
  gauges: prepare('},"gauges":{'),
  noTags: prepare('},"tags":[]'),
  tags: prepare('},"tags":'),
  nonfinite: prepare(',"nonfinite":'),
};
/** Keys inside a section. */
export const inSection: Omit<SectionKeys, "ms"> = {
  self_ms: prepare(',"self_ms":'),
  n: prepare(',"n":'),
  device_ms: prepare(',"device_ms":'),
  sync_ms: prepare(',"sync_ms":'),
  gc_ms: prepare(',"gc_ms":'),
  stall_ms: prepare(',"stall_ms":'),
  kernels: prepare(',"kernels":'),
  new_bytes: prepare(',"new_bytes":'),
  new_shapes: prepare(',"new_shapes":'),
  tensors: prepare(',"tensors":'),
  tokens: prepare(',"tokens":'),
  flops: prepare(',"flops":'),
  bytes: prepare(',"bytes":'),
  reason: prepare(',"reason":'),
};
const sectionKeys = createNames((name): SectionKeys => ({ ms: prepare(`${toJson(name)}:{"ms":`), ...inSection }));
const laneKey = createNames((name) => prepare(`${toJson(name)}:{"busy_ms":`));
const valueKey = createNames((name) => prepare(`${toJson(name)}:`));
const verdictKey = createNames((cause) => prepare(`},"verdict":{"cause":${toJson(cause)}`));

/** Writes a step record as JSON; `sections` are its own unless they are shown elsewhere. */
export function putStepJson(
  b: LineBuffer,
  at: number,
  record: StepRecord,
  sections: StepRecord["sections"] = record.sections,
): number {
  at = putNumber(b, put(b, at, key.step), record.step);
  at = putNumber(b, put(b, at, key.attempt), record.attempt);
  at = putTime(b, put(b, at, key.t), record.t_ms);
  at = putTime(b, put(b, at, key.ms), record.ms);
  at = putTime(b, put(b, at, key.residual), record.residual_ms);
  at = putTime(b, put(b, at, key.overhead), record.ov_us);
  at = putSections(b, put(b, at, key.sections), sections);
  at = putLanes(b, put(b, at, key.lanes), record.lanes);
  at = putVerdict(b, at, record.verdict);
  at = putValues(b, put(b, at, key.metrics), record.metrics);
  at = putValues(b, put(b, at, key.gauges), record.gauges);
  at = record.tags.length === 0 ? put(b, at, key.noTags) : putText(b, put(b, at, key.tags), toJson(record.tags));
  if (record.nonfinite !== undefined) at = putText(b, put(b, at, key.nonfinite), toJson(record.nonfinite));
  b.bytes[at] = brace;
  return at + 1;
}

function putSections(b: LineBuffer, at: number, sections: StepRecord["sections"]): number {
  const start = at;
  for (const name in sections) {
    if (at > start) b.bytes[at++] = comma;
    at = putSection(b, at, sections[name]!, sectionKeys(name), toJson);
    b.bytes[at++] = brace;
  }
  return at;
}

function putLanes(b: LineBuffer, at: number, lanes: StepRecord["lanes"]): number {
  const start = at;
  for (const name in lanes) {
    const lane = lanes[name]!;
    if (at > start) b.bytes[at++] = comma;
    at = putTime(b, put(b, at, laneKey(name)), lane.busy_ms);
    at = putTime(b, put(b, at, key.wait), lane.wait_ms);
    at = putTime(b, put(b, at, key.overlap), lane.overlap);
    b.bytes[at++] = brace;
  }
  return at;
}

function putVerdict(b: LineBuffer, at: number, verdict: StepRecord["verdict"]): number {
  if (verdict === null) return put(b, at, key.noVerdict);
  at = putTime(b, put(b, put(b, at, verdictKey(verdict.cause)), key.share), verdict.share);
  at = putTime(b, put(b, at, key.confidence), verdict.confidence);
  b.bytes[at] = brace;
  return at + 1;
}

function putValues(b: LineBuffer, at: number, values: Record<string, number | null>): number {
  const start = at;
  for (const name in values) {
    if (at > start) b.bytes[at++] = comma;
    at = putNumber(b, put(b, at, valueKey(name)), values[name]!);
  }
  return at;
}
