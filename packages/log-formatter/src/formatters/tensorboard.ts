import { crc32c } from "../crc32c.ts";
import { createLine, createNames, encode, putBytes } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import type { StepRecord } from "../record.ts";

/** Fields of TensorFlow's event.proto and summary.proto, each with its wire type as the byte that starts it. */
const wallTime = 0x09;
const stepNumber = 0x10;
const fileVersion = 0x1a;
const summary = 0x2a;
const sessionStart = [0x3a, 2, 0x08, 1];
const summaryValue = 0x0a;
const valueTag = 0x0a;
const simpleValue = 0x15;
/** Bytes of length and checksums around an event. */
const recordHead = 12;
const recordEnd = 4;

/** Everything of a scalar but its number. */
type Scalar = Uint8Array;

const scalarsIn = (group: string): ((name: string) => Scalar) =>
  createNames((name) => {
    const tag = encode(`${group}/${name}`);
    const inner = [valueTag, ...varint(tag.length), ...tag, simpleValue];
    return Uint8Array.from([summaryValue, ...varint(inner.length + 4), ...inner]);
  });
const stepScalar = scalarsIn("step");
const sectionScalar = scalarsIn("section_ms");
const deviceScalar = scalarsIn("device_ms");
const busyScalar = scalarsIn("lane_busy_ms");
const waitScalar = scalarsIn("lane_wait_ms");
const bottleneckScalar = scalarsIn("bottleneck_share");
const metricScalar = scalarsIn("metrics");
const gaugeScalar = scalarsIn("gauges");

interface Event {
  /** Seconds since 1970. */
  readonly time: number;
  readonly step: number;
  /** What the event holds but for scalars. */
  readonly head: readonly number[];
  readonly scalars: readonly Scalar[];
  /** Their values. */
  readonly values: readonly number[];
}

/** TensorBoard's event file: one event a step with a scalar for each time, metric and gauge; null is left out. */
export function tensorboard(): LogFormatter {
  let start = Date.now() / 1000;
  let begun = false;
  let resumed = false;
  const line = createLine(putRecord);
  const version = (): Uint8Array => {
    begun = true;
    return line({
      time: start,
      step: 0,
      head: [fileVersion, ...sized(encode("brain.Event:2"))],
      scalars: [],
      values: [],
    }).slice();
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
      const before: Uint8Array[] = begun ? [] : [version()];
      const event = { time: start + (record.t_ms + record.ms) / 1000, step: record.step, ...scalarsOf(record) };
      // Tells TensorBoard to forget what an earlier attempt wrote from this step on.
      if (resumed) before.push(line({ ...event, head: sessionStart, scalars: [], values: [] }).slice());
      resumed = false;
      const bytes = line({ ...event, head: [] });
      return before.length === 0 ? bytes : Buffer.concat([...before, bytes]);
    },
    preamble: version,
  };
}

function scalarsOf(record: StepRecord): Pick<Event, "scalars" | "values"> {
  const scalars: Scalar[] = [];
  const values: number[] = [];
  const add = (scalar: Scalar, value: number | null | undefined): void => {
    if (typeof value !== "number" || !Number.isFinite(value)) return;
    scalars.push(scalar);
    values.push(value);
  };
  add(stepScalar("ms"), record.ms);
  add(stepScalar("residual_ms"), record.residual_ms);
  add(stepScalar("ov_us"), record.ov_us);
  for (const name in record.sections) {
    const section = record.sections[name]!;
    add(sectionScalar(name), section.ms);
    if (section.device_ms !== undefined) add(deviceScalar(name), section.device_ms);
  }
  for (const name in record.lanes) {
    add(busyScalar(name), record.lanes[name]!.busy_ms);
    add(waitScalar(name), record.lanes[name]!.wait_ms);
  }
  if (record.verdict !== null) add(bottleneckScalar(record.verdict.cause), record.verdict.share);
  for (const name in record.metrics) add(metricScalar(name), record.metrics[name]);
  for (const name in record.gauges) add(gaugeScalar(name), record.gauges[name]);
  return { scalars, values };
}

/** Writes a TFRecord: length, its checksum, the event, its checksum. */
function putRecord(b: Uint8Array, event: Event): number {
  const view = new DataView(b.buffer);
  const end = putEvent(b, recordHead, event, view);
  if (end + recordEnd > b.length) return end + recordEnd;
  view.setUint32(0, end - recordHead, true);
  view.setUint32(4, 0, true);
  view.setUint32(8, masked(crc32c(b, 0, 8)), true);
  view.setUint32(end, masked(crc32c(b, recordHead, end)), true);
  return end + recordEnd;
}

function putEvent(b: Uint8Array, at: number, { time, step, head, scalars, values }: Event, view: DataView): number {
  let size = 0;
  for (const scalar of scalars) size += scalar.length + 4;
  const needed = at + 32 + head.length + size;
  if (needed > b.length) return needed;
  b[at++] = wallTime;
  view.setFloat64(at, time, true);
  at = putBytes(b, at + 8, Uint8Array.from([stepNumber, ...varint(step), ...head]));
  if (size === 0) return at;
  at = putBytes(b, at, Uint8Array.from([summary, ...varint(size)]));
  for (let i = 0; i < scalars.length; i++) {
    at = putBytes(b, at, scalars[i]!);
    view.setFloat32(at, values[i]!, true);
    at += 4;
  }
  return at;
}

/** A checksum of a checksum would be weak; TFRecord rotates and shifts it. */
function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function sized(bytes: Uint8Array): number[] {
  return [...varint(bytes.length), ...bytes];
}

/** A whole number from 0 to 2^53 in groups of seven bits, the lowest first. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = Math.max(0, Math.floor(Number.isFinite(value) ? value : 0));
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}
