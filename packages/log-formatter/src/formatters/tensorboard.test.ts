import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import protobuf from "protobufjs";
import { expect, test } from "vitest";
import { crc32c } from "../crc32c.ts";
import { anyStep, headerOf, stepOf, wildStep } from "../record.test-support.ts";
import type { EventRecord, HeaderRecord, StepRecord } from "../record.ts";
import { tensorboard } from "./tensorboard.ts";

/** The fields that are used of tensorflow/core/util/event.proto and framework/summary.proto. */
const schema = protobuf.parse(`
  syntax = "proto3";
  message Event { double wall_time = 1; int64 step = 2; oneof what { string file_version = 3; Summary summary = 5; SessionLog session_log = 7; } }
  message Summary { repeated Value value = 1; message Value { string tag = 1; oneof value { float simple_value = 2; } } }
  message SessionLog { int32 status = 1; }
`);
const eventType = schema.root.lookupType("Event");

interface Event {
  wallTime: number;
  step: string;
  fileVersion?: string;
  summary?: { value: { tag: string; simpleValue: number }[] };
  sessionLog?: { status: number };
}

function unmask(masked: number): number {
  const rotated = (masked - 0xa282ead8) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/** Reads TFRecords as TensorFlow's record reader does: length, masked CRC-32C of it, data, masked CRC-32C of the data. */
function events(bytes: Uint8Array): Event[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Event[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number(view.getBigUint64(at, true));
    expect(unmask(view.getUint32(at + 8, true))).toBe(crc32c(bytes.subarray(at, at + 8)));
    const data = bytes.subarray(at + 12, at + 12 + length);
    expect(unmask(view.getUint32(at + 12 + length, true))).toBe(crc32c(data));
    found.push(eventType.toObject(eventType.decode(data), { longs: String }) as Event);
    at += 16 + length;
  }
  return found;
}

function file(records: readonly (HeaderRecord | StepRecord)[]): Uint8Array {
  const formatter = tensorboard();
  return Buffer.concat(
    records.map((record) => Buffer.from(record.kind === "header" ? formatter.header!(record) : formatter.step(record))),
  );
}

test("a step is one event with its scalars; what is null is left out", () => {
  const step = stepOf(7, {
    t_ms: 1000,
    metrics: { loss: 3.25, accuracy: null },
    sections: { load: { ms: 2.5, self_ms: 2.5, n: 1, device_ms: 0.5 }, late: { ms: null, self_ms: null, n: 0 } },
  });
  const [version, event, ...none] = events(file([headerOf([]), step]));
  const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678) / 1000;
  expect(none).toEqual([]);
  expect(version).toEqual({ wallTime: start, fileVersion: "brain.Event:2" });
  expect(event!.step).toBe("7");
  expect(event!.wallTime).toBeCloseTo(start + 1.0481, 6);
  expect(Object.fromEntries(event!.summary!.value.map(({ tag, simpleValue }) => [tag, simpleValue]))).toEqual({
    "step/ms": Math.fround(48.1),
    "step/residual_ms": Math.fround(0.2),
    "step/ov_us": 4.25,
    "section_ms/load": 2.5,
    "device_ms/load": 0.5,
    "lane_busy_ms/drafter": 45,
    "lane_wait_ms/drafter": Math.fround(2.9),
    "bottleneck_share/drafter-bound": Math.fround(0.935),
    "metrics/loss": 3.25,
    "gauges/queue_depth": 2,
  });
});

test("numbers in an event's data are scalars of its step", () => {
  const formatter = tensorboard();
  const tau: EventRecord = {
    kind: "event",
    step: 7,
    name: "tau",
    data: { pooled: 2.5, bySlot: [1], lost: NaN, ms: 8 },
  };
  // Nothing to belong to yet.
  expect(formatter.event!(tau)).toBe("");
  formatter.step(stepOf(7, { t_ms: 1000 }));
  const [event, ...none] = events(Buffer.from(formatter.event!(tau)));
  expect(none).toEqual([]);
  expect(event!.step).toBe("7");
  expect(event!.summary!.value).toEqual([
    { tag: "events/tau/pooled", simpleValue: 2.5 },
    { tag: "events/tau/ms", simpleValue: 8 },
  ]);
  expect(formatter.event!({ ...tau, data: "text" })).toBe("");
});

test("a resumed attempt begins with a session start, so that TensorBoard forgets what comes again", () => {
  const found = events(file([headerOf([], 2), stepOf(80), stepOf(81)]));
  expect(found.map(({ step, sessionLog }) => [step, sessionLog?.status])).toEqual([
    [undefined, undefined],
    ["80", 1],
    ["80", undefined],
    ["81", undefined],
  ]);
});

test("metrics of any step come back as float32, with or without a header", () => {
  fc.assert(
    fc.property(anyStep, fc.boolean(), (record, withHeader) => {
      const event = events(file(withHeader ? [headerOf([]), record] : [record])).at(-1)!;
      expect(event.step).toBe(String(record.step));
      const metrics = event
        .summary!.value.filter(({ tag }) => tag.startsWith("metrics/"))
        .map(({ simpleValue }) => simpleValue + 0);
      const finite = Object.values(record.metrics).filter((value) => value !== null);
      expect(metrics).toEqual(finite.map((value) => Math.fround(value) + 0));
    }),
    { numRuns: 200 },
  );
});

test("any numbers at all and names of any length give whole records", () => {
  fc.assert(
    fc.property(wildStep, fc.nat({ max: 40_000 }), (record, length) => {
      const long = { ...record, gauges: { ["x".repeat(length)]: 1 } };
      expect(events(file([headerOf([]), long]))).toHaveLength(2);
    }),
  );
});

const hasTensorBoard = spawnSync("python3", ["-c", "import tensorboard"]).status === 0;
const python = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
log = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}); log.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in log.Scalars(tag)] for tag in log.Tags()["scalars"]}))
`;

function losses(from: number, to: number, shift: number): StepRecord[] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    stepOf(from + index, { metrics: { loss: from + index + shift } }),
  );
}

test.skipIf(!hasTensorBoard)(
  "TensorBoard reads the scalars, and once each after a resume (skipped where it is not installed)",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "dflash-tensorboard-"));
    writeFileSync(join(folder, "events.out.tfevents.run"), file([headerOf([]), ...losses(1, 5, 0)]));
    writeFileSync(join(folder, "events.out.tfevents.run.1"), file([headerOf([], 2), ...losses(4, 6, 0.5)]));
    const scalars = JSON.parse(
      execFileSync("python3", ["-W", "ignore", "-c", python, folder], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    ) as Record<string, number[][]>;
    expect(scalars["metrics/loss"]).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4.5],
      [5, 5.5],
      [6, 6.5],
    ]);
    expect(scalars["section_ms/drafter/backward"]).toHaveLength(6);
    rmSync(folder, { recursive: true });
  },
);
