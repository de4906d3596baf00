import { ByteWriter, encode } from "../byteWriter.ts";
import type { LogFormatter } from "../logFormatter.ts";
import type { LogRecord, SectionRecord, StepRecord } from "../record.ts";
import { toJson } from "../toJson.ts";

const b = (text: string): Uint8Array => encode(text);
const keys = {
  step: b('{"kind":"step","step":'),
  attempt: b(',"attempt":'),
  t: b(',"t_ms":'),
  ms: b(',"ms":'),
  residual: b(',"residual_ms":'),
  overhead: b(',"ov_us":'),
  sections: b(',"sections":{'),
  self: b(',"self_ms":'),
  n: b(',"n":'),
  lanes: b('},"lanes":{'),
  wait: b(',"wait_ms":'),
  overlap: b(',"overlap":'),
  verdict: b('},"verdict":'),
  metrics: b(',"metrics":{'),
  gauges: b('},"gauges":{'),
  tags: b('},"tags":'),
  nonfinite: b(',"nonfinite":'),
  reason: b(',"reason":'),
  close: b("}"),
  comma: b(","),
  end: b("}\n"),
};
const counts = ["kernels", "new_bytes", "new_shapes", "tokens", "flops"] as const;
const causes = ["device_ms", "sync_ms"] as const;
const columns = new Map<keyof SectionRecord, Uint8Array>(
  [...counts, ...causes].map((name) => [name, b(`,"${name}":`)]),
);

const whole = (record: LogRecord): string => `${toJson(record)}\n`;

/** One JSON object a line, exactly the record; times to the nanosecond, everything else in full. */
export function ndjson(): LogFormatter {
  const line = new ByteWriter();
  const names = new Map<string, Uint8Array>();

  /** `"name":`, made once. */
  const key = (name: string, open = ""): void => {
    const id = open + name;
    let bytes = names.get(id);
    if (bytes === undefined) names.set(id, (bytes = b(`${JSON.stringify(name)}:${open}`)));
    line.raw(bytes);
  };
  const values = (of: Record<string, number | null>): void => {
    let first = true;
    for (const name in of) {
      if (first) first = false;
      else line.raw(keys.comma);
      key(name);
      line.number(of[name]!);
    }
  };
  const section = (times: SectionRecord): void => {
    line.time(times.ms);
    line.raw(keys.self);
    line.time(times.self_ms);
    line.raw(keys.n);
    line.number(times.n);
    for (const name of causes) {
      const value = times[name];
      if (value === undefined) continue;
      line.raw(columns.get(name)!);
      line.time(value);
    }
    for (const name of counts) {
      const value = times[name];
      if (value === undefined) continue;
      line.raw(columns.get(name)!);
      line.number(value);
    }
    if (times.reason !== undefined) {
      line.raw(keys.reason);
      line.text(toJson(times.reason));
    }
    line.raw(keys.close);
  };
  const lanes = (of: StepRecord["lanes"]): void => {
    let first = true;
    for (const name in of) {
      const lane = of[name]!;
      if (first) first = false;
      else line.raw(keys.comma);
      key(name, '{"busy_ms":');
      line.time(lane.busy_ms);
      line.raw(keys.wait);
      line.time(lane.wait_ms);
      line.raw(keys.overlap);
      line.number(lane.overlap);
      line.raw(keys.close);
    }
  };
  return {
    header: whole,
    step(record) {
      line.reset();
      line.raw(keys.step);
      line.number(record.step);
      line.raw(keys.attempt);
      line.number(record.attempt);
      line.raw(keys.t);
      line.time(record.t_ms);
      line.raw(keys.ms);
      line.time(record.ms);
      line.raw(keys.residual);
      line.time(record.residual_ms);
      line.raw(keys.overhead);
      line.time(record.ov_us);
      line.raw(keys.sections);
      let first = true;
      for (const name in record.sections) {
        if (first) first = false;
        else line.raw(keys.comma);
        key(name, '{"ms":');
        section(record.sections[name]!);
      }
      line.raw(keys.lanes);
      lanes(record.lanes);
      line.raw(keys.verdict);
      line.text(toJson(record.verdict));
      line.raw(keys.metrics);
      values(record.metrics);
      line.raw(keys.gauges);
      values(record.gauges);
      line.raw(keys.tags);
      line.text(toJson(record.tags));
      if (record.nonfinite !== undefined) {
        line.raw(keys.nonfinite);
        line.text(toJson(record.nonfinite));
      }
      line.raw(keys.end);
      return line.bytes();
    },
    late: whole,
    summary: whole,
    event: whole,
  };
}
