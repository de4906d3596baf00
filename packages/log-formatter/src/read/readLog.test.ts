import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ndjson } from "../formatters/ndjson.ts";
import { headerOf, stepOf } from "../record.test-support.ts";
import type { HeaderRecord, LogRecord, StepRecord } from "../record.ts";
import { fileSink } from "../sinks/fileSink.ts";
import { readLog, type ReadLogOptions } from "./readLog.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "read-log-"));
  path = join(folder, "log.ndjson");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function read(options: ReadLogOptions = {}): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of readLog(path, options)) records.push(record);
  return records;
}

const lines = (...records: LogRecord[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const attempt = (number: number, from: number, to: number): [HeaderRecord, ...StepRecord[]] => [
  headerOf([], number),
  ...Array.from({ length: to - from + 1 }, (_, index) => stepOf(from + index, { attempt: number })),
];
/** `attempt:step` of each step. */
const steps = (records: readonly LogRecord[]): string[] =>
  records.flatMap((record) => (record.kind === "step" ? [`${record.attempt}:${record.step}`] : []));

test("a log is read as it was written, whatever its names", async () => {
  const records = [
    ...attempt(1, 1, 200),
    { kind: "event", step: 200, name: "line\u2028 \r\n", data: { text: "数据" } } as const,
  ];
  writeFileSync(path, lines(...records));
  expect(await read()).toEqual(records);
});

test("torn lines are skipped and told, and an end without a line end is none", async () => {
  writeFileSync(
    path,
    `${lines(...attempt(1, 1, 2))}{"kind":"step","step":3,"att\n${lines(stepOf(3))}\n${JSON.stringify(stepOf(4))}`,
  );
  const torn: string[] = [];
  expect(steps(await read({ onTorn: (place) => torn.push(place) }))).toEqual(["1:1", "1:2", "1:3", "1:4"]);
  expect(torn).toEqual([`${path}:4`]);
});

test("what a resumed run did again replaces what was done before, also what the earlier attempt was ahead", async () => {
  // Attempt 1 dies at 10, 2 goes on from a checkpoint at 6 and dies at 8, 3 goes on from 4.
  const events = [9, 2].map((step) => ({ kind: "event", step, name: "skip", data: null }) as const);
  writeFileSync(path, lines(...attempt(1, 1, 10), ...events, ...attempt(2, 7, 8), ...attempt(3, 5, 6)));
  const records = await read();
  expect(steps(records)).toEqual(["1:1", "1:2", "1:3", "1:4", "3:5", "3:6"]);
  expect(records.filter(({ kind }) => kind === "event")).toEqual([events[1]]);
  expect(records.filter(({ kind }) => kind === "header")).toHaveLength(3);
});

test.each([
  ["a header that was torn counts for no attempt", (text: string) => text],
  ["as does white space that another program writes", (text: string) => text.replaceAll(/":(?=\S)/g, '": ')],
])("%s", async (_, write) => {
  const torn = lines(headerOf([], 2)).slice(0, 60);
  const text = `${lines(...attempt(1, 1, 4))}${torn}\n${lines(...attempt(2, 3, 5), ...attempt(3, 6, 7))}`;
  writeFileSync(path, write(text));
  expect(steps(await read())).toEqual(["1:1", "1:2", "2:3", "2:4", "2:5", "3:6", "3:7"]);
});

test("a mark at the beginning of the file and line ends of Windows are no part of the records", async () => {
  const records = attempt(1, 1, 3);
  writeFileSync(path, `\ufeff${lines(...records).replaceAll("\n", "\r\n\r\n")}`);
  const torn: string[] = [];
  expect(await read({ onTorn: (place) => torn.push(place) })).toEqual(records);
  expect(torn).toEqual([]);
});

function pending(step: number): StepRecord {
  return stepOf(step, { sections: { gpu: { ms: 1, self_ms: 1, n: 1, device_ms: null, reason: "pending" } } });
}

function late(step: number): LogRecord {
  return { kind: "late", step, sections: { gpu: { device_ms: step / 2 }, unknown: { device_ms: 1 } } };
}

test("late records are merged into their steps; the reason for a null goes with it", async () => {
  writeFileSync(path, lines(headerOf([]), pending(1), pending(2), late(1), pending(3), late(2), late(99)));
  const records = await read();
  expect(records.flatMap((record) => (record.kind === "step" ? [record.sections["gpu"]] : []))).toEqual([
    { ms: 1, self_ms: 1, n: 1, device_ms: 0.5 },
    { ms: 1, self_ms: 1, n: 1, device_ms: 1 },
    { ms: 1, self_ms: 1, n: 1, device_ms: null, reason: "pending" },
  ]);
  // A step that is not there can't take its late record in.
  expect(records.filter(({ kind }) => kind === "late")).toEqual([late(99)]);
});

test("rotated parts come first, and are one attempt", async () => {
  const sink = fileSink(path, { maxBytes: 3000 });
  const formatter = ndjson();
  const [header, ...all] = attempt(1, 1, 20);
  sink.open!("lines", () => formatter.header!(header));
  sink.write(formatter.header!(header), "header");
  for (const step of all) sink.write(formatter.step(step), "step");
  const records = await read();
  expect(steps(records)).toEqual(all.map(({ step }) => `1:${step}`));
  expect(records.filter(({ kind }) => kind === "header").length).toBeGreaterThan(1);
});

test("a log that was moved away and not begun anew is read from its parts", async () => {
  writeFileSync(`${path}.1`, lines(...attempt(1, 1, 3)));
  expect(steps(await read())).toEqual(["1:1", "1:2", "1:3"]);
});

test.each([
  ["[1]", "expected a log record, an object with a kind, got [1]"],
  ["12", "expected a log record, an object with a kind, got 12"],
  ['{"step":1}', "expected a log record, but it has no kind"],
  ['{"kind":"header","v":2}', "expected version 1, the only one that this release reads, not 2, in a header record"],
  ['{"kind":"header","v":1,"sections":[{}]}', "expected a list of named sections in a header record"],
  ['{"kind":"header","v":1,"sections":[]}', "expected a text as run in a header record"],
  [
    '{"kind":"header","v":1,"sections":[],"run":"a","host":"b","start":"c","attempt":1}',
    "expected a number as rank in a header record",
  ],
  ['{"kind":"step","step":"1"}', "expected a whole number as step in a step record"],
  ['{"kind":"step","step":1,"sections":{"a":1}}', "expected sections, an object of objects, in a step record"],
  ['{"kind":"step","step":1,"sections":{},"attempt":1,"t_ms":0,"ms":null}', "expected a number as ms in a step record"],
  [JSON.stringify({ ...stepOf(1), metrics: [] }), "expected an object as metrics in a step record"],
  [JSON.stringify({ ...stepOf(1), tags: "warmup" }), "expected a list of tags in a step record"],
  [JSON.stringify({ ...stepOf(1), verdict: "slow" }), "expected a verdict or null in a step record"],
  [
    JSON.stringify({ ...stepOf(1), sections: { a: { ms: "1", self_ms: 1, n: 1 } } }),
    "expected a number or null as ms of section a in a step record",
  ],
  [
    JSON.stringify({ ...stepOf(1), sections: { a: { ms: 1, n: 1 } } }),
    "expected a number or null as self_ms of section a in a step record",
  ],
  [JSON.stringify(stepOf(1)).replace('"t_ms":0,', '"t_ms":1e999,'), "expected a number as t_ms in a step record"],
  [JSON.stringify({ ...stepOf(1), lanes: { b: null } }), "expected an object of lane b in a step record"],
  [JSON.stringify({ ...stepOf(1), verdict: {} }), "expected a verdict or null in a step record"],
  [JSON.stringify({ ...stepOf(1), gauges: { c: true } }), "expected a number or null as gauge c in a step record"],
  [
    JSON.stringify(
      headerOf([
        { name: "a", parent: "b", lane: "main", role: null },
        { name: "b", parent: "a", lane: "main", role: null },
      ]),
    ),
    "expected sections that lie in one another, not in themselves, in a header record",
  ],
  ['{"kind":"late","step":1}', "expected sections, an object of objects, in a late record"],
  ['{"kind":"summary","sections":{}}', "expected whole numbers as from and to in a summary record"],
  ['{"kind":"event","step":1}', "expected a name in a event record"],
])("the line %s is refused with its place", async (line, message) => {
  writeFileSync(path, `${lines(headerOf([]))}${line}\n`);
  await expect(read()).rejects.toThrow(`${path}:2: ${message}`);
});

test("records of kinds that a later minor version adds are passed over", async () => {
  const torn: string[] = [];
  writeFileSync(path, `{"kind":"weather"}\n${lines(stepOf(1))}`);
  expect(steps(await read({ onTorn: (place) => torn.push(place) }))).toEqual(["1:1"]);
  expect(torn).toEqual([]);
});

test("a missing log is an error that names it", async () => {
  await expect(read()).rejects.toThrow(path);
});

/** Follows the log while `write` adds to it; ends once `until` steps were seen. */
async function follow(until: number, write: (seen: number) => void): Promise<LogRecord[]> {
  const end = new AbortController();
  const records: LogRecord[] = [];
  for await (const record of readLog(path, { follow: { signal: end.signal } })) {
    records.push(record);
    const seen = steps(records).length;
    if (record.kind === "step") write(seen);
    if (seen === until) end.abort();
  }
  return records;
}

test("a running log is followed record by record, half-written lines included", async () => {
  writeFileSync(path, lines(headerOf([]), stepOf(1)));
  const half = lines(stepOf(3));
  const records = await follow(4, (seen) => {
    if (seen === 1) {
      appendFileSync(path, lines(stepOf(2)) + half.slice(0, 30));
      setTimeout(() => appendFileSync(path, half.slice(30)), 250);
    }
    if (seen === 3) appendFileSync(path, lines({ kind: "late", step: 3, sections: {} }, stepOf(4)));
  });
  expect(records.map((record) => ("step" in record ? `${record.kind} ${record.step}` : record.kind))).toEqual([
    "header",
    "step 1",
    "step 2",
    "step 3",
    "late 3",
    "step 4",
  ]);
});

test("following goes on in the file that takes the place of a rotated or truncated one", async () => {
  writeFileSync(path, lines(headerOf([]), stepOf(1)));
  const records = await follow(3, (seen) => {
    if (seen === 1) {
      renameSync(path, `${path}.old`);
      appendFileSync(`${path}.old`, lines(stepOf(2)));
      setTimeout(() => writeFileSync(path, lines(headerOf([]), stepOf(3))), 250);
    }
  });
  expect(steps(records)).toEqual(["1:1", "1:2", "1:3"]);
  writeFileSync(path, lines(headerOf([]), stepOf(1), stepOf(2)));
  expect(
    steps(
      await follow(3, (seen) => {
        if (seen !== 2) return;
        truncateSync(path);
        appendFileSync(path, lines(stepOf(9)));
      }),
    ),
  ).toEqual(["1:1", "1:2", "1:9"]);
});

test("an aborted follower reads what is there and stops", async () => {
  writeFileSync(path, lines(...attempt(1, 1, 3)));
  expect(steps(await read({ follow: { signal: AbortSignal.abort() } }))).toHaveLength(3);
});
