import { createLayout, type Layout, nanoseconds } from "../createLayout.ts";
import {
  createLine,
  encode,
  type LineBuffer,
  type Prepared,
  prepare,
  put,
  putDecimals,
  putInteger,
  putNumber,
  putTime,
} from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { hasExtras, putExtras } from "../putSection.ts";
import { inSection, putStepJson } from "../putStepJson.ts";
import type { SectionRecord, StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";

const key = {
  step: prepare(',\n{"ph":"X","pid":1,"tid":0,"name":"step","args":'),
  start: prepare(',"ts":'),
  duration: prepare(',"dur":'),
  end: prepare("}"),
  args: prepare(',"args":{"n":'),
  ms: prepare(',"ms":'),
  endArgs: prepare("}}"),
};
/**
 * Chrome's trace event format, for Perfetto: a track of steps and a track a lane. The starts within a step are laid out, not
 * measured; what a bar can't show stands in its `args`.
 */
export function chrome(): LogFormatter {
  let layout = createLayout([]);
  /** The start of each section's bar, in the order of the layout. */
  let bars: Prepared[] = [];
  let opening = openingOf("training", layout.lanes);
  let begun = false;
  const begin = (chunk: Uint8Array): Uint8Array => {
    if (begun) return chunk;
    begun = true;
    return Buffer.concat([encode(opening), chunk]);
  };
  const line = createLine((b: LineBuffer, record: StepRecord) => putStep(b, record, layout, bars));
  return {
    form: "document",
    header({ run, rank, host, sections }) {
      layout = createLayout(sections);
      bars = [];
      opening = openingOf(`${run} rank ${rank} on ${host}`, layout.lanes);
      const chunk = begun ? opening.replace("[", ",") : opening;
      begun = true;
      return chunk;
    },
    step(record) {
      layout.place(record);
      for (let index = bars.length; index < layout.names.length; index++)
        bars.push(barOf(layout.names[index]!, layout.tracks[index]!));
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

function barOf(name: string, track: number): Prepared {
  return prepare(`,\n{"ph":"X","pid":1,"name":${toJson(name)},"tid":${track},"ts":`);
}

function putStep(b: LineBuffer, record: StepRecord, layout: Layout, bars: readonly Prepared[]): number {
  let at = putStepJson(b, put(b, 0, key.step), record, {});
  at = putMicroseconds(b, put(b, at, key.start), nanoseconds(record.t_ms));
  at = putMicroseconds(b, put(b, at, key.duration), nanoseconds(record.ms));
  at = put(b, at, key.end);
  const { sections, starts, durations } = layout;
  for (let index = 0; index < bars.length; index++) {
    const section = sections[index];
    if (typeof section?.ms !== "number") continue;
    at = putMicroseconds(b, put(b, at, bars[index]!), starts[index]!);
    at = putMicroseconds(b, put(b, at, key.duration), durations[index]!);
    at = putArgs(b, at, section, durations[index]!);
  }
  return at;
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
  return rest === 0 ? at : putDecimals(b, at, rest);
}
