import { execFileSync, spawnSync } from "node:child_process";
import * as fc from "fast-check";
import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { expect, test } from "vitest";
import { anyStep, headerOf, stepOf, wildStep } from "../record.test-support.ts";
import type { StepRecord } from "../record.ts";
import { prometheus } from "./prometheus.ts";

/** The page after the last of these steps. */
function pageAfter(records: readonly StepRecord[], formatter = prometheus()): string {
  let page = "";
  for (const record of records)
    page = new TextDecoder("utf-8", { fatal: true }).decode(formatter.step(record) as Uint8Array);
  return page;
}

/** Samples by name and labels, from the parser of the reference client. */
function samples(page: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, metrics } of parsePrometheusTextFormat(page)) {
    for (const { labels = {}, value, sum, count } of metrics) {
      const key = `${name}${JSON.stringify(labels)}`;
      if (value !== undefined) found[key] = value;
      if (sum !== undefined) found[`${key} sum`] = sum;
      if (count !== undefined) found[`${key} count`] = count;
    }
  }
  return found;
}

test("a page of two steps", () => {
  const formatter = prometheus();
  expect(formatter.header!(headerOf([], 2))).toBe("");
  const first = stepOf(1, {
    sections: { load: { ms: 3, self_ms: 3, n: 1 }, device: { ms: null, self_ms: null, n: 1, reason: "pending" } },
  });
  const second = stepOf(2, {
    ms: 51.9,
    sections: { load: { ms: 2, self_ms: 2, n: 1 } },
    metrics: { loss: null, accuracy: 0.21 },
  });
  formatter.event!({ kind: "event", step: 2, name: "skip", data: null });
  expect(samples(pageAfter([first, second], formatter))).toEqual({
    'dflash_run_info{"run":"a run","attempt":"2","rank":"0","host":"a host"}': "1",
    "dflash_step{}": "2",
    "dflash_step_seconds{} sum": "0.1",
    "dflash_step_seconds{} count": "2",
    "dflash_residual_seconds_total{}": "0.0004",
    "dflash_telemetry_seconds_total{}": "0.000009",
    'dflash_section_seconds{"section":"load"} sum': "0.005",
    'dflash_section_seconds{"section":"load"} count': "2",
    'dflash_section_seconds{"section":"device"} sum': "0",
    'dflash_section_seconds{"section":"device"} count': "0",
    'dflash_section_missing_total{"section":"device"}': "1",
    'dflash_lane_busy_seconds_total{"lane":"drafter"}': "0.09",
    'dflash_lane_wait_seconds_total{"lane":"drafter"}': "0.0058",
    'dflash_bottleneck_share{"cause":"drafter-bound"}': "0.935",
    'dflash_metric{"name":"accuracy"}': "0.21",
    'dflash_gauge{"name":"queue_depth"}': "2",
    'dflash_events_total{"name":"skip"}': "1",
  });
});

test("metrics and gauges of any step come back under their names", () => {
  fc.assert(
    fc.property(anyStep, (record) => {
      const found = Object.entries(samples(pageAfter([record])));
      const metrics = found.filter(([key]) => key.startsWith("dflash_metric{"));
      const expected = Object.values(record.metrics).filter((value) => value !== null);
      // Names that differ in control characters alone fall together.
      expect(metrics.length).toBeLessThanOrEqual(expected.length);
      for (const [, value] of metrics) expect(expected.map((number) => String(number + 0))).toContain(value);
    }),
    { numRuns: 200 },
  );
});

test("any numbers at all give a page that parses", () => {
  fc.assert(
    fc.property(fc.array(wildStep, { minLength: 1, maxLength: 3 }), (records) => {
      expect(samples(pageAfter(records))["dflash_step{}"]).toBe(String(records.at(-1)!.step));
    }),
  );
});

test("events of ever new names do not pile up", () => {
  const formatter = prometheus();
  for (let index = 0; index < 10_000; index++)
    formatter.event!({ kind: "event", step: 1, name: `event ${index}`, data: null });
  expect(pageAfter([stepOf(1)], formatter).match(/dflash_events_total\{/g)!.length).toBeLessThanOrEqual(256);
});

const python =
  "import sys; from prometheus_client.parser import text_string_to_metric_families as parse; print(sum(len(f.samples) for f in parse(sys.stdin.read())))";
const hasClient = spawnSync("python3", ["-c", "import prometheus_client"]).status === 0;

test.skipIf(!hasClient)("Python's prometheus_client reads as many samples (skipped where it is not installed)", () => {
  const page = pageAfter(fc.sample(anyStep, { seed: 1, numRuns: 20 }));
  const lines = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(Number(execFileSync("python3", ["-c", python], { input: page, encoding: "utf8" }))).toBe(lines.length);
});
