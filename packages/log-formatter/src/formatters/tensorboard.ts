import { crc32c } from "../crc32c.ts";
import { createNames } from "../createNames.ts";
import { createLine, encode, type LineBuffer, type Prepared, prepare, put } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import type { EventRecord, StepRecord } from "../record.ts";

/** Fields of TensorFlow's event.proto and summary.proto, each with its wire type as the byte that starts it. */
const wallTime = 0x09;
const stepNumber = 0x10;
const fileVersion = 0x1a;
const summary = 0x2a;
const sessionLog = 0x3a;
const summaryValue = 0x0a;
const valueTag = 0x0a;
const simpleValue = 0x15;

const versionMark = prepare(field(fileVersion, encode("brain.Event:2")));
const sessionStart = prepare(field(sessionLog, Uint8Array.of(0x08, 1)));
/** Bytes before an event: its length and that one's checksum. */
const recordHead = 12;
/** Bytes of a size that is known last: a varint may have more of them than it needs. */
const sizeBytes = 5;
/** Bytes before a summary's values. */
const summaryHead = 1 + sizeBytes;

/** Everything of a scalar but its number. */
function scalar(tag: string): Prepared {
  const name = encode(tag);
  const inner = [...field(valueTag, name), simpleValue];
  return prepare(Uint8Array.of(summaryValue, ...varint(inner.length + 4), ...inner));
}

const stepMs = scalar("step/ms");
const residualMs = scalar("step/residual_ms");
const overheadUs = scalar("step/ov_us");
const sectionMs = createNames((name) => scalar(`section_ms/${name}`));
const deviceMs = createNames((name) => scalar(`device_ms/${name}`));
const busyMs = createNames((name) => scalar(`lane_busy_ms/${name}`));
const waitMs = createNames((name) => scalar(`lane_wait_ms/${name}`));
const bottleneckShare = createNames((cause) => scalar(`bottleneck_share/${cause}`));
const metric = createNames((name) => scalar(`metrics/${name}`));
const gauge = createNames((name) => scalar(`gauges/${name}`));
const ofEvent = createNames((name) => scalar(`events/${name}`));

/** TensorBoard's event file: one event a step with a scalar for each time, metric and gauge, and one for each record of an event whose data has numbers; null is left out. */
export function tensorboard(): LogFormatter {
  let start = Date.now() / 1000;
  let begun = false;
  let resumed = false;
  let now = start;
  const stepEvent = createLine((buffer: LineBuffer, record: StepRecord) =>
    putRecord(buffer, putScalars(buffer, putHead(buffer, endOf(record, start), record.step), record)),
  );
  const marked = createLine(
    (buffer: LineBuffer, { time, step, mark }: { time: number; step: number; mark: Prepared }) =>
      putRecord(buffer, put(buffer, putHead(buffer, time, step), mark)),
  );
  const numbers = createLine((buffer: LineBuffer, { step, name, data }: EventRecord) =>
    putRecord(buffer, putNumbers(buffer, putHead(buffer, now, step), name, data)),
  );
  const version = (): Uint8Array => {
    begun = true;
    return marked({ time: start, step: 0, mark: versionMark }).slice();
  };
  return {
    form: "document",
    header(record) {
      const parsed = Date.parse(record.start);
      if (Number.isFinite(parsed)) start = parsed / 1000;
      resumed = record.attempt > 1;
      return begun ? "" : version();
    },
    step(record) {
      now = endOf(record, start);
      if (begun && !resumed) return stepEvent(record);
      const before = begun ? [] : [version()];
      // Tells TensorBoard to forget what an earlier attempt wrote from this step on.
      if (resumed) before.push(marked({ time: now, step: record.step, mark: sessionStart }));
      resumed = false;
      return Buffer.concat([...before, stepEvent(record)]);
    },
    event(record) {
      return begun && !resumed && numbersOf(record.data).length > 0 ? numbers(record) : "";
    },
    preamble: version,
  };
}

/** Wall clock at the end of a step, seconds. */
function endOf({ t_ms, ms }: StepRecord, start: number): number {
  return start + (t_ms + ms) / 1000;
}

/** Writes the time and the step of an event, behind the room for its record's head. */
function putHead({ bytes, view }: LineBuffer, time: number, step: number): number {
  bytes[recordHead] = wallTime;
  view.setFloat64(recordHead + 1, time, true);
  bytes[recordHead + 9] = stepNumber;
  return putVarint(bytes, recordHead + 10, step);
}

/** Writes the summary with all scalars of a step. */
function putScalars(buffer: LineBuffer, start: number, record: StepRecord): number {
  let at = start + summaryHead;
  at = putScalar(buffer, at, stepMs, record.ms);
  at = putScalar(buffer, at, residualMs, record.residual_ms);
  at = putScalar(buffer, at, overheadUs, record.ov_us);
  for (const name in record.sections) {
    const section = record.sections[name]!;
    at = putScalar(buffer, at, sectionMs(name), section.ms);
    if (section.device_ms !== undefined) at = putScalar(buffer, at, deviceMs(name), section.device_ms);
  }
  for (const name in record.lanes) {
    at = putScalar(buffer, at, busyMs(name), record.lanes[name]!.busy_ms);
    at = putScalar(buffer, at, waitMs(name), record.lanes[name]!.wait_ms);
  }
  if (record.verdict !== null) at = putScalar(buffer, at, bottleneckShare(record.verdict.cause), record.verdict.share);
  for (const name in record.metrics) at = putScalar(buffer, at, metric(name), record.metrics[name]!);
  for (const name in record.gauges) at = putScalar(buffer, at, gauge(name), record.gauges[name]!);
  return putSummary(buffer, start, at);
}

/** Writes the summary with the numbers of an event's data. */
function putNumbers(buffer: LineBuffer, start: number, event: string, data: unknown): number {
  let at = start + summaryHead;
  for (const [name, value] of numbersOf(data)) at = putScalar(buffer, at, ofEvent(`${event}/${name}`), value);
  return putSummary(buffer, start, at);
}

function numbersOf(data: unknown): [string, number][] {
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).filter((entry): entry is [string, number] => Number.isFinite(entry[1]));
}

/** Writes the head of the summary whose values end at `end`. */
function putSummary({ bytes }: LineBuffer, start: number, end: number): number {
  bytes[start] = summary;
  putSize(bytes, start + 1, end - start - summaryHead);
  return end;
}

function putScalar(buffer: LineBuffer, at: number, head: Prepared, value: number | null): number {
  if (value === null || !Number.isFinite(value)) return at;
  const end = put(buffer, at, head);
  if (end + 4 <= buffer.bytes.length) buffer.view.setFloat32(end, value, true);
  return end + 4;
}

/** Makes a TFRecord of the event that ends at `end`: length, its checksum, the event, its checksum. */
function putRecord({ bytes, view }: LineBuffer, end: number): number {
  if (end + 4 > bytes.length) return end + 4;
  view.setUint32(0, end - recordHead, true);
  view.setUint32(4, 0, true);
  view.setUint32(8, masked(crc32c(bytes, 0, 8)), true);
  view.setUint32(end, masked(crc32c(bytes, recordHead, end)), true);
  return end + 4;
}

/** TFRecord's mask: rotated and shifted, since a checksum of a checksum would be weak. */
function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** A whole number from 0 to 2^53 in groups of seven bits, the lowest first. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value > 0 && Number.isFinite(value) ? Math.floor(value) : 0;
  while (rest > 127) {
    bytes[at++] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
  }
  bytes[at] = rest;
  return at + 1;
}

function putSize(bytes: Uint8Array, at: number, size: number): void {
  for (let i = 0; i < sizeBytes; i++) bytes[at + i] = ((size >>> (7 * i)) & 127) | (i < sizeBytes - 1 ? 128 : 0);
}

function varint(value: number): Uint8Array {
  const bytes = new Uint8Array(10);
  return bytes.subarray(0, putVarint(bytes, 0, value));
}

/** A field with its length. */
function field(start: number, content: Uint8Array): Uint8Array {
  return Uint8Array.of(start, ...varint(content.length), ...content);
}
