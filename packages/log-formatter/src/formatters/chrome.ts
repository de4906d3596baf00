import { createLayout, type Layout, nanoseconds } from "../createLayout.ts";
import { createLine, createNames, encode, putBytes, putInteger, putThree } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { putSection, type SectionKeys } from "../putSection.ts";
import { inSection, putStepJson } from "../putStepJson.ts";
import type { StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";

const point = 46;
const key = {
  step: encode(',\n{"ph":"X","pid":1,"tid":0,"name":"step","args":'),
  stepTime: encode(',"ts":'),
  track: encode('},"tid":'),
  start: encode(',"ts":'),
  duration: encode(',"dur":'),
  end: encode("}"),
};
const sectionKeys = createNames((name): SectionKeys => {
  return { ms: encode(`,\n{"ph":"X","pid":1,"name":${toJson(name)},"args":{"ms":`), ...inSection };
});

/**
 * Chrome's trace event format, for Perfetto: a track of steps and a track a lane. The starts within a step are laid out, not
 * measured; each event carries its record as `args`.
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
  const line = createLine((b: Uint8Array, record: StepRecord) => putStep(b, record, layout));
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

function putStep(b: Uint8Array, record: StepRecord, layout: Layout): number {
  let at = putStepJson(b, putBytes(b, 0, key.step), record, {});
  at = putMicroseconds(b, putBytes(b, at, key.stepTime), nanoseconds(record.t_ms));
  at = putMicroseconds(b, putBytes(b, at, key.duration), nanoseconds(record.ms));
  at = putBytes(b, at, key.end);
  for (let index = 0; index < layout.names.length; index++) {
    const name = layout.names[index]!;
    const section = record.sections[name];
    if (typeof section?.ms !== "number") continue;
    at = putSection(b, at, section, sectionKeys(name), toJson);
    at = putInteger(b, putBytes(b, at, key.track), layout.tracks[index]!);
    at = putMicroseconds(b, putBytes(b, at, key.start), layout.starts[index]!);
    at = putMicroseconds(b, putBytes(b, at, key.duration), layout.durations[index]!);
    at = putBytes(b, at, key.end);
  }
  return at;
}

/** The trace's unit, to the nanosecond. */
function putMicroseconds(b: Uint8Array, at: number, time: number): number {
  const micro = Math.floor(time / 1000);
  at = putInteger(b, at, micro);
  const rest = time - micro * 1000;
  if (rest === 0) return at;
  b[at] = point;
  return putThree(b, at + 1, rest);
}
