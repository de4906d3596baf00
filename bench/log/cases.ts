import { builtInFormatters, createStepRecord, ndjson, type StepRecord } from "@dflash/log-formatter";
import { createTimer } from "@dflash/timer";
import { createJudge } from "@dflash/timer/verdict";
import { openSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import { pino } from "pino";
import winston from "winston";

/** One call does what is measured, for one record. */
export type Case = (record: StepRecord) => unknown;

const target = { color: false, columns: 120 };
const bytes = Buffer.allocUnsafe(1 << 16);

/** Each of our formatters and each peer, from a record to bytes in memory. */
export const formatCases: Readonly<Record<string, () => Case>> = {
  ...Object.fromEntries(
    Object.entries(builtInFormatters).map(([name, factory]) => [
      name,
      (): Case => {
        const formatter = factory(target);
        return (record) => {
          const chunk = formatter.step(record);
          return typeof chunk === "string" ? bytes.write(chunk) : chunk.length;
        };
      },
    ]),
  ),
  "JSON.stringify": () => (record) => bytes.write(`${JSON.stringify(record)}\n`),
  pino: () => {
    const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void bytes.write(line) });
    return (record) => logger.info(record);
  },
  winston: () => {
    const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void chunk.copy(bytes)) });
    const logger = winston.createLogger({
      format: winston.format.json(),
      transports: [new winston.transports.Stream({ stream })],
    });
    return (record) => logger.info("step", record);
  },
};

const stepSections = 24;

function createStep(write: (line: string | Uint8Array) => unknown, judged: boolean = false): Case {
  const timer = createTimer();
  const judge = judged ? createJudge(timer) : null;
  const sections = Array.from({ length: stepSections }, (_, index) =>
    timer.section(`group-${index % 4}/section-${index}`),
  );
  const formatter = ndjson();
  let metrics: StepRecord["metrics"] = {};
  timer.on("report", (report) =>
    write(formatter.step(createStepRecord(report, { metrics, verdict: judge?.verdict() ?? null }))),
  );
  const body = (): void => {
    for (const section of sections) {
      section.start();
      section.stop();
    }
  };
  return (record) => {
    metrics = record.metrics;
    timer.step(body);
  };
}

/** A whole step of telemetry: 24 sections timed, their record built and written as a line. */
export const stepCases: Readonly<Record<string, () => Case>> = {
  "24 sections timed, no line": () => {
    const timer = createTimer();
    const sections = Array.from({ length: stepSections }, (_, index) => timer.section(`section-${index}`));
    return () => timer.step(() => sections.forEach((section) => (section.start(), section.stop())));
  },
  "24 sections and their line in memory": () => createStep((line) => line.length),
  "24 sections, judged with the 31 steps before, and their line in memory": () =>
    createStep((line) => line.length, true),
  "24 sections and their line in a file": () => {
    const file = openSync("/dev/null", "a");
    return createStep((line) => (typeof line === "string" ? writeSync(file, line) : writeSync(file, line)));
  },
};
