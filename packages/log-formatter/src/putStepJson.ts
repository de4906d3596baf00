import { createNames, encode, putBytes, putNumber, putText, putTime } from "./lineBytes.ts";
import { putSection, type SectionKeys } from "./putSection.ts";
import type { StepRecord } from "./record.ts";
import { toJson } from "./toJson.ts";

const comma = 44;
const brace = 125;
const key = {
  step: encode('{"kind":"step","step":'),
  attempt: encode(',"attempt":'),
  t: encode(',"t_ms":'),
  ms: encode(',"ms":'),
  residual: encode(',"residual_ms":'),
  overhead: encode(',"ov_us":'),
  sections: encode(',"sections":{'),
  lanes: encode('},"lanes":{'),
  wait: encode(',"wait_ms":'),
  overlap: encode(',"overlap":'),
  noVerdict: encode('},"verdict":null'),
  share: encode(',"share":'),
  confidence: encode(',"confidence":'),
  metrics: encode(',"metrics":{'),
  gauges: encode('},"gauges":{'),
  noTags: encode('},"tags":[]'),
  tags: encode('},"tags":'),
  nonfinite: encode(',"nonfinite":'),
};
/** Keys inside a section. */
export const inSection: Omit<SectionKeys, "ms"> = {
  self_ms: encode(',"self_ms":'),
  n: encode(',"n":'),
  device_ms: encode(',"device_ms":'),
  sync_ms: encode(',"sync_ms":'),
  gc_ms: encode(',"gc_ms":'),
  stall_ms: encode(',"stall_ms":'),
  kernels: encode(',"kernels":'),
  new_bytes: encode(',"new_bytes":'),
  new_shapes: encode(',"new_shapes":'),
  tensors: encode(',"tensors":'),
  tokens: encode(',"tokens":'),
  flops: encode(',"flops":'),
  bytes: encode(',"bytes":'),
  reason: encode(',"reason":'),
};
const sectionKeys = createNames((name): SectionKeys => ({ ms: encode(`${toJson(name)}:{"ms":`), ...inSection }));
const laneKey = createNames((name) => encode(`${toJson(name)}:{"busy_ms":`));
const valueKey = createNames((name) => encode(`${toJson(name)}:`));
const verdictKey = createNames((cause) => encode(`},"verdict":{"cause":${toJson(cause)}`));

/** Writes a step record as JSON; `sections` are its own unless they are shown elsewhere. */
export function putStepJson(
  b: Uint8Array,
  at: number,
  record: StepRecord,
  sections: StepRecord["sections"] = record.sections,
): number {
  at = putNumber(b, putBytes(b, at, key.step), record.step);
  at = putNumber(b, putBytes(b, at, key.attempt), record.attempt);
  at = putTime(b, putBytes(b, at, key.t), record.t_ms);
  at = putTime(b, putBytes(b, at, key.ms), record.ms);
  at = putTime(b, putBytes(b, at, key.residual), record.residual_ms);
  at = putTime(b, putBytes(b, at, key.overhead), record.ov_us);
  at = putSections(b, putBytes(b, at, key.sections), sections);
  at = putLanes(b, putBytes(b, at, key.lanes), record.lanes);
  at = putVerdict(b, at, record.verdict);
  at = putValues(b, putBytes(b, at, key.metrics), record.metrics);
  at = putValues(b, putBytes(b, at, key.gauges), record.gauges);
  at =
    record.tags.length === 0 ? putBytes(b, at, key.noTags) : putText(b, putBytes(b, at, key.tags), toJson(record.tags));
  if (record.nonfinite !== undefined) at = putText(b, putBytes(b, at, key.nonfinite), toJson(record.nonfinite));
  b[at] = brace;
  return at + 1;
}

function putSections(b: Uint8Array, at: number, sections: StepRecord["sections"]): number {
  const start = at;
  for (const name in sections) {
    if (at > start) b[at++] = comma;
    at = putSection(b, at, sections[name]!, sectionKeys(name), toJson);
    b[at++] = brace;
  }
  return at;
}

function putLanes(b: Uint8Array, at: number, lanes: StepRecord["lanes"]): number {
  const start = at;
  for (const name in lanes) {
    const lane = lanes[name]!;
    if (at > start) b[at++] = comma;
    at = putTime(b, putBytes(b, at, laneKey(name)), lane.busy_ms);
    at = putTime(b, putBytes(b, at, key.wait), lane.wait_ms);
    at = putTime(b, putBytes(b, at, key.overlap), lane.overlap);
    b[at++] = brace;
  }
  return at;
}

function putVerdict(b: Uint8Array, at: number, verdict: StepRecord["verdict"]): number {
  if (verdict === null) return putBytes(b, at, key.noVerdict);
  at = putTime(b, putBytes(b, putBytes(b, at, verdictKey(verdict.cause)), key.share), verdict.share);
  at = putTime(b, putBytes(b, at, key.confidence), verdict.confidence);
  b[at] = brace;
  return at + 1;
}

function putValues(b: Uint8Array, at: number, values: Record<string, number | null>): number {
  const start = at;
  for (const name in values) {
    if (at > start) b[at++] = comma;
    at = putNumber(b, putBytes(b, at, valueKey(name)), values[name]!);
  }
  return at;
}
