import { EventEmitter } from "eventemitter3";
import { EventEmitter as NodeEmitter } from "node:events";
import { expect, test } from "vitest";
import { attachLog, type LogEvents, type LogFault } from "./attachLog.ts";
import { ndjson } from "./formatters/ndjson.ts";
import type { LogFormatter } from "./logFormatter.ts";
import type { LogSink } from "./logSink.ts";
import { headerOf, stepOf } from "./record.test-support.ts";
import type { LogRecord } from "./record.ts";

/** Keeps what is written. */
function memorySink(name = "memory"): LogSink & { text: string; closed: number; records: () => LogRecord[] } {
  return {
    name,
    text: "",
    closed: 0,
    write(chunk) {
      this.text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
    },
    close() {
      this.closed++;
    },
    records() {
      return this.text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as LogRecord);
    },
  };
}

/** A loop's emitter has events of its own too. */
const createEmitter = (): EventEmitter<LogEvents & { checkpoint: () => void }> => new EventEmitter();

test("every record reaches every output in the form of its formatter", async () => {
  const emitter = createEmitter();
  const [lines, words] = [memorySink(), memorySink()];
  const kinds: LogFormatter = {
    header: () => "header ",
    step: ({ step }) => `step ${step} `,
    late: () => "late ",
    summary: () => "summary ",
    event: () => "event ",
    close: () => "close",
  };
  const log = attachLog(emitter, [
    [ndjson, lines],
    [() => kinds, words],
  ]);
  emitter.emit("header", headerOf([]));
  emitter.emit("step", stepOf(1));
  emitter.emit("late", { kind: "late", step: 1, sections: {} });
  emitter.emit("event", { kind: "event", step: 1, name: "slow", data: null });
  emitter.emit("summary", { kind: "summary", from: 1, to: 1, sections: {} });
  await Promise.all([log.close(), log.close()]);
  emitter.emit("step", stepOf(2));
  expect(lines.records().map(({ kind }) => kind)).toEqual(["header", "step", "late", "event", "summary"]);
  expect(words.text).toBe("header step 1 late event summary close");
  expect([lines.closed, words.closed]).toEqual([1, 1]);
  expect(log.faults).toEqual([]);
});

test("a formatter needs no more than step, and may be given ready-made; node:events will do", async () => {
  const emitter = new NodeEmitter();
  const sink = memorySink();
  const log = attachLog(emitter, [[{ step: ({ step }) => `${step}\n` }, sink]]);
  for (const kind of ["header", "late", "event", "summary"]) emitter.emit(kind, { kind });
  emitter.emit("step", stepOf(1));
  await log.close();
  expect(sink.text).toBe("1\n");
  expect(emitter.eventNames()).toEqual([]);
});

const failures: [string, () => LogFormatter, string][] = [
  [
    "throws",
    () => ({
      step: ({ step }) => {
        if (step === 2) throw new Error("no");
        return "";
      },
    }),
    "no",
  ],
  [
    "throws what is no error",
    () => ({
      step: () => {
        throw "text";
      },
    }),
    "text",
  ], // oxlint-disable-line no-throw-literal typescript/only-throw-error
  [
    "returns no chunk",
    () => ({ step: (() => undefined) as unknown as () => string }),
    "the formatter returned undefined for a step record; return a string or a Uint8Array",
  ],
  [
    "fails in a promise",
    () => ({ step: (() => Promise.reject(new Error("late"))) as unknown as () => string }),
    "the formatter returned object for a step record; return a string or a Uint8Array",
  ],
  [
    "is made in a promise that fails",
    () => Promise.reject(new Error("late")) as unknown as LogFormatter,
    "it is no formatter: an object with a step method",
  ],
  ["is none", () => ({}) as LogFormatter, "it is no formatter: an object with a step method"],
  [
    "cannot be made",
    () => {
      throw new Error("no such font");
    },
    "no such font",
  ],
];

test.each(failures)(
  "a formatter that %s is switched off, named once and counted; the others go on",
  async (_, factory, message) => {
    const emitter = createEmitter();
    const sink = memorySink();
    const faults: LogFault[] = [];
    const log = attachLog(
      emitter,
      [
        [factory, memorySink("screen")],
        [ndjson, sink],
      ],
      { onFault: (fault) => faults.push(fault) },
    );
    for (let step = 1; step <= 5; step++) expect(emitter.emit("step", stepOf(step))).toBe(true);
    await log.close();
    expect(faults).toHaveLength(1);
    expect(log.faults).toEqual(faults);
    expect(faults[0]!.error.message).toBe(message);
    expect(faults[0]!.output).toMatch(/^\w+ to screen$/);
    const events = sink.records().filter((record) => record.kind === "event");
    expect(events).toEqual([
      { kind: "event", step: faults[0]!.step, name: "sink-off", data: { output: faults[0]!.output, error: message } },
    ]);
    expect(sink.records().filter(({ kind }) => kind === "step")).toHaveLength(5);
  },
);

test("events of the time before the header, and outputs that the header switches off, stand behind it in every output", async () => {
  const emitter = createEmitter();
  const sink = memorySink();
  const shut: LogSink = {
    ...memorySink("shut"),
    open: () => {
      throw new Error("closed for today");
    },
  };
  const full: LogSink = {
    name: "full",
    write: () => {
      throw new Error("ENOSPC");
    },
  };
  const log = attachLog(
    emitter,
    [
      [ndjson, shut],
      [ndjson, full],
      [ndjson, sink],
    ],
    { onFault: () => undefined },
  );
  emitter.emit("event", { kind: "event", step: 0, name: "worker-crash", data: null });
  expect(sink.text).toBe("");
  emitter.emit("header", headerOf([]));
  emitter.emit("step", stepOf(1));
  await log.close();
  const seen = sink.records().map((record) => (record.kind === "event" ? record.name : record.kind));
  expect(seen).toEqual(["header", "sink-off", "worker-crash", "sink-off", "step"]);
});

test("events of a run that never came to a step are written when it ends", async () => {
  const emitter = createEmitter();
  const sink = memorySink();
  const log = attachLog(emitter, [[ndjson, sink]]);
  emitter.emit("event", { kind: "event", step: 0, name: "worker-crash", data: null });
  await log.close();
  expect(sink.records()).toEqual([{ kind: "event", step: 0, name: "worker-crash", data: null }]);
});

test("lost records are counted, the failing one included", async () => {
  const emitter = createEmitter();
  const full: LogSink = {
    name: "disk",
    write(_, kind) {
      if (kind === "step") throw new Error("ENOSPC");
    },
  };
  const log = attachLog(emitter, [[ndjson, full]], { onFault: () => undefined });
  emitter.emit("header", headerOf([]));
  for (let step = 1; step <= 4; step++) emitter.emit("step", stepOf(step));
  await log.close();
  expect(log.faults[0]).toMatchObject({ output: "ndjson to disk", step: 1, lost: 4 });
});

const computing: LogFormatter = {
  step({ step, tags }) {
    const [begin, start] = [performance.now(), process.cpuUsage()];
    const wanted = tags.includes("slow") ? 60 : 0;
    // Other threads compute too, and other processes may keep this one from it.
    for (let used = 0; Math.min(used, performance.now() - begin) < wanted;) {
      const { user, system } = process.cpuUsage(start);
      used = (user + system) / 1000;
    }
    return `${step} `;
  },
};

/** Over a second: for less, a busy machine's other work could be at fault. */
const waiting: LogFormatter = {
  step({ step, tags }) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, tags.includes("slow") ? 1010 : 0);
    return `${step} `;
  },
};

test.each([
  ["computes", computing],
  ["waits", waiting],
])("a formatter that %s may be slow once, not twice", async (_, slow) => {
  const emitter = createEmitter();
  const sink = memorySink();
  const log = attachLog(emitter, [[slow, sink]], { onFault: () => undefined });
  for (const [index, tags] of [["slow"], [], ["slow"], []].entries()) emitter.emit("step", stepOf(index + 1, { tags }));
  await log.close();
  expect(sink.text).toBe("1 2 ");
  expect(log.faults).toMatchObject([{ step: 3, lost: 2, error: { message: "the formatter took over 50 ms twice" } }]);
});

test("a slow record is forgotten after many quick ones", async () => {
  const emitter = createEmitter();
  const sink = memorySink();
  const log = attachLog(emitter, [[computing, sink]], { onFault: () => undefined });
  for (let step = 1; step <= 100; step++) emitter.emit("step", stepOf(step, { tags: step % 34 === 0 ? ["slow"] : [] }));
  await log.close();
  expect(log.faults).toEqual([]);
  expect(sink.text.trim().split(" ")).toHaveLength(100);
});

test("sinks that cannot be opened or closed, and reporters that throw, reach nobody", async () => {
  const emitter = createEmitter();
  const shut = {
    ...memorySink("shut"),
    open: () => {
      throw new Error("closed for today");
    },
  };
  const stuck = { ...memorySink("stuck"), close: () => Promise.reject(new Error("still busy")) };
  const log = attachLog(
    emitter,
    [
      [ndjson, shut],
      [ndjson, stuck],
    ],
    {
      onFault: () => {
        throw new Error("reporter");
      },
    },
  );
  emitter.emit("step", stepOf(1));
  await log.close();
  expect(log.faults.map(({ output, error }) => `${output}: ${error.message}`)).toEqual([
    "ndjson to shut: closed for today",
    "ndjson to stuck: still busy",
  ]);
});

test("a sink learns the form, and what a further file begins with", () => {
  const emitter = createEmitter();
  const opened: [string, () => unknown][] = [];
  const sink = (): LogSink => ({ ...memorySink(), open: (form, preamble) => opened.push([form, preamble]) });
  const page: LogFormatter = { form: "page", step: () => "", preamble: () => "columns" };
  attachLog(emitter, [
    [ndjson, sink()],
    [page, sink()],
  ]);
  emitter.emit("header", headerOf([]));
  expect(opened.map(([form]) => form)).toEqual(["lines", "page"]);
  expect(JSON.parse(opened[0]![1]() as string)).toEqual(headerOf([]));
  expect(opened[1]![1]()).toBe("columns");
});
