import { createLine, createNames, encode, putBytes, putNumber, putTime } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { printable } from "../printable.ts";
import type { StepRecord } from "../record.ts";

const newline = 10;

/** Head of a metric family. */
function family(name: string, type: "counter" | "gauge" | "summary", help: string): Uint8Array {
  return encode(`# HELP dflash_${name} ${help}\n# TYPE dflash_${name} ${type}\n`);
}

const heads = {
  info: family("run_info", "gauge", "The run: always 1."),
  step: family("step", "gauge", "Number of the last step."),
  steps: family("step_seconds", "summary", "Wall time of the steps."),
  residual: family("residual_seconds_total", "counter", "Wall time of the steps in no section."),
  overhead: family("telemetry_seconds_total", "counter", "What the telemetry itself cost."),
  sections: family("section_seconds", "summary", "Wall time of a section over the steps that measured it."),
  missing: family("section_missing_total", "counter", "Steps that could not measure a section."),
  busy: family("lane_busy_seconds_total", "counter", "Time a lane worked."),
  wait: family("lane_wait_seconds_total", "counter", "Time a lane waited."),
  verdict: family("bottleneck_share", "gauge", "Share of the last step that its bottleneck took."),
  metric: family("metric", "gauge", "Result of the last step."),
  gauge: family("gauge", "gauge", "State at the end of the last step."),
  events: family("events_total", "counter", "Events by name."),
};

/** A running total with the line starts that print it. */
interface Total {
  ms: number;
  count: number;
  missing: number;
  readonly sumKey: Uint8Array;
  readonly countKey: Uint8Array;
  readonly missingKey: Uint8Array;
}

/** The Prometheus text format 0.0.4: a whole page of running totals after each step, for a `/metrics` sink or a file. */
export function prometheus(): LogFormatter {
  const steps = createTotal("step_seconds", "");
  const sections = new Map<string, Total>();
  const lanes = new Map<string, { busy: number; wait: number; busyKey: Uint8Array; waitKey: Uint8Array }>();
  const events = new Map<string, number>();
  let info = new Uint8Array();
  let residual = 0;
  let overhead = 0;

  const add = (record: StepRecord): void => {
    addTo(steps, record.ms);
    residual += finite(record.residual_ms);
    overhead += finite(record.ov_us) / 1000;
    for (const name in record.sections) {
      let section = sections.get(name);
      if (section === undefined)
        sections.set(name, (section = createTotal("section_seconds", labels({ section: name }))));
      addTo(section, record.sections[name]!.ms);
    }
    for (const name in record.lanes) {
      let lane = lanes.get(name);
      if (lane === undefined) {
        const label = labels({ lane: name });
        lane = {
          busy: 0,
          wait: 0,
          busyKey: encode(`dflash_lane_busy_seconds_total${label} `),
          waitKey: encode(`dflash_lane_wait_seconds_total${label} `),
        };
        lanes.set(name, lane);
      }
      lane.busy += finite(record.lanes[name]!.busy_ms);
      lane.wait += finite(record.lanes[name]!.wait_ms);
    }
  };

  const putPage = (b: Uint8Array, record: StepRecord): number => {
    let at = putBytes(b, 0, info);
    at = putNumber(b, putBytes(b, putBytes(b, at, heads.step), stepKey), record.step);
    at = putTotal(b, putBytes(b, putLine(b, at), heads.steps), steps);
    at = putTime(b, putBytes(b, putBytes(b, at, heads.residual), residualKey), residual / 1000);
    at = putTime(b, putBytes(b, putBytes(b, putLine(b, at), heads.overhead), overheadKey), overhead / 1000);
    at = putBytes(b, putLine(b, at), heads.sections);
    for (const section of sections.values()) at = putTotal(b, at, section);
    at = putMissing(b, at, sections.values());
    at = putBytes(b, at, heads.busy);
    for (const lane of lanes.values()) at = putLine(b, putTime(b, putBytes(b, at, lane.busyKey), lane.busy / 1000));
    at = putBytes(b, at, heads.wait);
    for (const lane of lanes.values()) at = putLine(b, putTime(b, putBytes(b, at, lane.waitKey), lane.wait / 1000));
    if (record.verdict !== null) {
      at = putBytes(b, putBytes(b, at, heads.verdict), verdictKey(record.verdict.cause));
      at = putLine(b, putNumber(b, at, record.verdict.share));
    }
    at = putValues(b, putBytes(b, at, heads.metric), record.metrics, metricKey);
    at = putValues(b, putBytes(b, at, heads.gauge), record.gauges, gaugeKey);
    if (events.size > 0) at = putBytes(b, at, heads.events);
    for (const [name, count] of events) at = putLine(b, putNumber(b, putBytes(b, at, eventKey(name)), count));
    return at;
  };
  const page = createLine(putPage);

  return {
    form: "page",
    header({ run, attempt, rank, host }) {
      const line = `dflash_run_info${labels({ run, attempt: String(attempt), rank: String(rank), host })} 1\n`;
      info = new Uint8Array([...heads.info, ...encode(line)]);
      return "";
    },
    step(record) {
      add(record);
      return page(record);
    },
    event({ name }) {
      if (events.has(name) || events.size < eventNames) events.set(name, (events.get(name) ?? 0) + 1);
      return "";
    },
  };
}

/** Names of events counted: each is a time series for whoever scrapes. */
const eventNames = 256;
const stepKey = encode("dflash_step ");
const residualKey = encode("dflash_residual_seconds_total ");
const overheadKey = encode("dflash_telemetry_seconds_total ");
const verdictKey = createNames((cause) => encode(`dflash_bottleneck_share${labels({ cause })} `));
const metricKey = createNames((name) => encode(`dflash_metric${labels({ name })} `));
const gaugeKey = createNames((name) => encode(`dflash_gauge${labels({ name })} `));
const eventKey = createNames((name) => encode(`dflash_events_total${labels({ name })} `));

function createTotal(name: string, label: string): Total {
  return {
    ms: 0,
    count: 0,
    missing: 0,
    sumKey: encode(`dflash_${name}_sum${label} `),
    countKey: encode(`dflash_${name}_count${label} `),
    missingKey: encode(`dflash_section_missing_total${label} `),
  };
}

function labels(values: Record<string, string>): string {
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",")}}`;
}

function escapeLabel(text: string): string {
  return printable(text.replaceAll("\n", " ")).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}

function finite(value: number | null): number {
  return value !== null && Number.isFinite(value) ? value : 0;
}

function addTo(total: Total, ms: number | null): void {
  if (ms === null || !Number.isFinite(ms)) total.missing++;
  else {
    total.ms += ms;
    total.count++;
  }
}

function putLine(b: Uint8Array, at: number): number {
  b[at] = newline;
  return at + 1;
}

function putTotal(b: Uint8Array, at: number, total: Total): number {
  at = putLine(b, putTime(b, putBytes(b, at, total.sumKey), total.ms / 1000));
  return putLine(b, putNumber(b, putBytes(b, at, total.countKey), total.count));
}

function putMissing(b: Uint8Array, at: number, sections: Iterable<Total>): number {
  let any = false;
  for (const section of sections) {
    if (section.missing === 0) continue;
    if (!any) at = putBytes(b, at, heads.missing);
    any = true;
    at = putLine(b, putNumber(b, putBytes(b, at, section.missingKey), section.missing));
  }
  return at;
}

/** What is null is left out: to Prometheus a series that ends is missing, a 0 would be a value. */
function putValues(
  b: Uint8Array,
  at: number,
  values: Record<string, number | null>,
  key: (name: string) => Uint8Array,
): number {
  for (const name in values) {
    const value = values[name]!;
    if (value !== null && Number.isFinite(value)) at = putLine(b, putNumber(b, putBytes(b, at, key(name)), value));
  }
  return at;
}
