import { createLayout, type Layout, nanoseconds } from "../createLayout.ts";
import {
  createLine,
  createNames,
  encode,
  type LineBuffer,
  prepare,
  put,
  putInteger,
  putNumber,
  putThree,
  putTime,
} from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { hasExtras, putExtras } from "../putSection.ts";
import { inSection, putStepJson } from "../putStepJson.ts";
import type { SectionRecord, StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";

const point = 46;
const key = {
  step: prepare(',\n{"ph":"X","pid":1,"tid":0,"name":"step","args":'),
  start: prepare(',"ts":'),
  duration: prepare(',"dur":'),
  end: prepare("}"),
  args: prepare(',"args":{"n":'),
  ms: prepare(',"ms":'),
  endArgs: prepare("}}"),
};
const sectionKey = createNames((name) => prepare(`,\n{"ph":"X","pid":1,"name":${toJson(name)},"tid":`));

/**
 * Chrome's trace event format, for Perfetto: a track of steps and a track a lane. The starts within a step are laid out, not
 * measured; what a bar can't show stands in its `args`.
 */
export function chrome(): LogFormatter {
  let layout = createLayout([]);
  let opening = openingOf("training", layout.lanes);
  let begun = false;
  const begin = (chunk: Uint8Array): Uint8Array => {
    if (begun) return chunk;
    begun = true;
    return Buffer.concat([encode(opening), chunk]);
  };
  const line = createLine((b: LineBuffer, record: StepRecord) => putStep(b, record, layout));
  return {
    form: "document",
    header({ run, rank, host, sections }) {
      layout = createLayout(sections);
      opening = openingOf(`${run} rank ${rank} on ${host}`, layout.lanes);
      const chunk = begun ? opening.replace("[", ",") : opening;
      begun = true;
      return chunk;
    },
    step(record) {
      layout.place(record);
      return begin(line(record));
    },
    event({ step: of, name, data }) {
      const event = { ph: "i", s: "g", pid: 1, tid: 0, name, ts: layout.end / 1000, args: { step: of, data } };
      return begin(encode(`,\n${toJson(event)}`));
    },
    preamble: () => opening,
    close: () => (begun ? "\n]\n" : ""),
  };
}

/** The first events of a file: names of the process and its tracks. */
function openingOf(process: string, lanes: readonly string[]): string {
  const tracks = ["steps", ...lanes].map((lane, track) => named("thread_name", track, lane));
  return `[\n${[named("process_name", 0, process), ...tracks].join(",\n")}`;
}

function named(what: string, tid: number, name: string): string {
  return toJson({ ph: "M", pid: 1, tid, name: what, args: { name } });
}

function putStep(b: LineBuffer, record: StepRecord, layout: Layout): number {
  let at = putStepJson(b, put(b, 0, key.step), record, {});
  at = putMicroseconds(b, put(b, at, key.start), nanoseconds(record.t_ms));
  at = putMicroseconds(b, put(b, at, key.duration), nanoseconds(record.ms));
  at = put(b, at, key.end);
  for (let index = 0; index < layout.names.length; index++) {
    const name = layout.names[index]!;
    const section = record.sections[name];
    if (typeof section?.ms !== "number") continue;
    at = putInteger(b, put(b, at, sectionKey(name)), layout.tracks[index]!);
    at = putSpan(b, at, layout.starts[index]!, layout.durations[index]!);
    at = putArgs(b, at, section, layout.durations[index]!);
  }
  return at;
}

function putSpan(b: LineBuffer, at: number, start: number, duration: number): number {
  at = putMicroseconds(b, put(b, at, key.start), start);
  return putMicroseconds(b, put(b, at, key.duration), duration);
}

/** What the length of the bar does not say. */
function putArgs(b: LineBuffer, at: number, section: SectionRecord, duration: number): number {
  at = putNumber(b, put(b, at, key.args), section.n);
  if (nanoseconds(section.ms) !== duration) at = putTime(b, put(b, at, key.ms), section.ms);
  if (section.self_ms !== section.ms) at = putTime(b, put(b, at, inSection.self_ms), section.self_ms);
  if (hasExtras(section)) at = putExtras(b, at, section, inSection, toJson);
  return put(b, at, key.endArgs);
}

/** The trace's unit, to the nanosecond. */
function putMicroseconds(b: LineBuffer, at: number, time: number): number {
  const micro = Math.floor(time / 1000);
  at = putInteger(b, at, micro);
  const rest = time - micro * 1000;
  if (rest === 0) return at;
  b.bytes[at] = point;
  return putThree(b, at + 1, rest);
}
