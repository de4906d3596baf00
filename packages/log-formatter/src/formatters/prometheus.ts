import { createNames } from "../createNames.ts";
import { createLine, type LineBuffer, type Prepared, prepare, put, putNumber, putTime } from "../lineBytes.ts";
import type { LogFormatter } from "../logFormatter.ts";
import type { StepRecord } from "../record.ts";
import { family, labels, putLine } from "./prometheusText.ts";
import { addTo, createRunningTotal, putTotal, type RunningTotal } from "./runningTotal.ts";

const heads = {
  step: prepare(family("step", "gauge", "Number of the last step.")),
  steps: prepare(family("step_seconds", "summary", "Wall time of the steps.")),
  residual: prepare(family("residual_seconds_total", "counter", "Wall time of the steps in no section.")),
  overhead: prepare(family("telemetry_seconds_total", "counter", "What the telemetry itself cost.")),
  sections: prepare(family("section_seconds", "summary", "Wall time of a section over the steps that measured it.")),
  missing: prepare(family("section_missing_total", "counter", "Steps that could not measure a section.")),
  busy: prepare(family("lane_busy_seconds_total", "counter", "Time a lane worked.")),
  wait: prepare(family("lane_wait_seconds_total", "counter", "Time a lane waited.")),
  verdict: prepare(family("bottleneck_share", "gauge", "Share of the last step that its bottleneck took.")),
  metric: prepare(family("metric", "gauge", "Result of the last step.")),
  gauge: prepare(family("gauge", "gauge", "State at the end of the last step.")),
  events: prepare(family("events_total", "counter", "Events by name.")),
};

/** The Prometheus text format 0.0.4: a whole page of running totals after each step, for a `/metrics` sink or a file. */
export function prometheus(): LogFormatter {
  const steps = createRunningTotal("step_seconds", "");
  const sections = new Map<string, RunningTotal>();
  const lanes = new Map<string, { busy: number; wait: number; busyKey: Prepared; waitKey: Prepared }>();
  const events = new Map<string, number>();
  let info = prepare("");
  let residual = 0;
  let overhead = 0;

  const add = (record: StepRecord): void => {
    addTo(steps, record.ms);
    residual += finite(record.residual_ms);
    overhead += finite(record.ov_us) / 1000;
    for (const name in record.sections) {
      let section = sections.get(name);
      if (section === undefined)
        sections.set(name, (section = createRunningTotal("section_seconds", labels({ section: name }))));
      addTo(section, record.sections[name]!.ms);
    }
    for (const name in record.lanes) {
      let lane = lanes.get(name);
      if (lane === undefined) {
        const label = labels({ lane: name });
        lane = {
          busy: 0,
          wait: 0,
          busyKey: prepare(`dflash_lane_busy_seconds_total${label} `),
          waitKey: prepare(`dflash_lane_wait_seconds_total${label} `),
        };
        lanes.set(name, lane);
      }
      lane.busy += finite(record.lanes[name]!.busy_ms);
      lane.wait += finite(record.lanes[name]!.wait_ms);
    }
  };

  const putPage = (b: LineBuffer, record: StepRecord): number => {
    let at = put(b, 0, info);
    at = putNumber(b, put(b, put(b, at, heads.step), stepKey), record.step);
    at = putTotal(b, put(b, putLine(b, at), heads.steps), steps);
    at = putTime(b, put(b, put(b, at, heads.residual), residualKey), residual / 1000);
    at = putTime(b, put(b, put(b, putLine(b, at), heads.overhead), overheadKey), overhead / 1000);
    at = put(b, putLine(b, at), heads.sections);
    for (const section of sections.values()) at = putTotal(b, at, section);
    at = putMissing(b, at, sections.values());
    at = put(b, at, heads.busy);
    for (const lane of lanes.values()) at = putLine(b, putTime(b, put(b, at, lane.busyKey), lane.busy / 1000));
    at = put(b, at, heads.wait);
    for (const lane of lanes.values()) at = putLine(b, putTime(b, put(b, at, lane.waitKey), lane.wait / 1000));
    if (record.verdict !== null) {
      at = put(b, put(b, at, heads.verdict), verdictKey(record.verdict.cause));
      at = putLine(b, putNumber(b, at, record.verdict.share));
    }
    at = putValues(b, put(b, at, heads.metric), record.metrics, metricKey);
    at = putValues(b, put(b, at, heads.gauge), record.gauges, gaugeKey);
    if (events.size > 0) at = put(b, at, heads.events);
    for (const [name, count] of events) at = putLine(b, putNumber(b, put(b, at, eventKey(name)), count));
    return at;
  };
  const page = createLine(putPage);

  return {
    form: "page",
    header({ run, attempt, rank, host }) {
      const label = labels({ run, attempt: String(attempt), rank: String(rank), host });
      info = prepare(`${family("run_info", "gauge", "The run: always 1.")}dflash_run_info${label} 1\n`);
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
const stepKey = prepare("dflash_step ");
const residualKey = prepare("dflash_residual_seconds_total ");
const overheadKey = prepare("dflash_telemetry_seconds_total ");
const verdictKey = createNames((cause) => prepare(`dflash_bottleneck_share${labels({ cause })} `));
const metricKey = createNames((name) => prepare(`dflash_metric${labels({ name })} `));
const gaugeKey = createNames((name) => prepare(`dflash_gauge${labels({ name })} `));
const eventKey = createNames((name) => prepare(`dflash_events_total${labels({ name })} `));

function finite(value: number | null): number {
  return value !== null && Number.isFinite(value) ? value : 0;
}

function putMissing(b: LineBuffer, at: number, sections: Iterable<RunningTotal>): number {
  let any = false;
  for (const section of sections) {
    if (section.missing === 0) continue;
    if (!any) at = put(b, at, heads.missing);
    any = true;
    at = putLine(b, putNumber(b, put(b, at, section.missingKey), section.missing));
  }
  return at;
}

/** What is null is left out: to Prometheus a series that ends is missing, a 0 would be a value. */
function putValues(
  b: LineBuffer,
  at: number,
  values: Record<string, number | null>,
  key: (name: string) => Prepared,
): number {
  for (const name in values) {
    const value = values[name]!;
    if (value !== null && Number.isFinite(value)) at = putLine(b, putNumber(b, put(b, at, key(name)), value));
  }
  return at;
}
