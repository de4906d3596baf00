import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, open, truncate } from "node:fs/promises";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { writeJson } from "../writeJson.ts";
import type { AnsweredRecord } from "./answerTurns.ts";

/** What became of a data file's records. */
export interface AnswerCounts {
  finished: number;
  /** Cut at the limit of new tokens. */
  truncated: number;
  /** Without a question, or too long. */
  skipped: number;
}

/** A file of regenerated conversations, a line each, that can be gone on with. */
export interface AnswerFile {
  /** The first record that isn't there yet. */
  readonly next: number;
  readonly counts: AnswerCounts;
  /** Adds what became of the next records, durably. */
  write(answers: readonly (AnsweredRecord | null)[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file for the records behind those that it holds; half a line at its end, of a process that was killed, is cut off. The
 * settings stand beside it, in `<path>.settings.json`: answers of other settings must not be mixed in.
 */
export async function openAnswerFile(path: string, settings: Readonly<Record<string, unknown>>): Promise<AnswerFile> {
  checkSettings(path, settings);
  const counts: AnswerCounts = { finished: 0, truncated: 0, skipped: 0 };
  let next = existsSync(path) ? await readAnswers(path, counts) : 0;
  const file = await open(path, "a");
  return {
    get next() {
      return next;
    },
    counts,
    async write(answers) {
      let lines = "";
      for (const answer of answers) {
        const record = next++;
        if (answer === null) counts.skipped++;
        else {
          counts[answer.finish === "stop" ? "finished" : "truncated"]++;
          lines += `${JSON.stringify({ record, ...answer })}\n`;
        }
      }
      await file.writeFile(lines);
      await file.sync();
    },
    close: async () => file.close(),
  };
}

function checkSettings(path: string, settings: Readonly<Record<string, unknown>>): void {
  const beside = `${path}.settings.json`;
  if (existsSync(path) && existsSync(beside)) {
    const before = readSettings(beside);
    for (const [name, value] of Object.entries(settings)) {
      const begun: unknown = Object(before)[name];
      if (isDeepStrictEqual(begun, value)) continue;
      throw new Error(
        `${path}: was begun with ${name} ${JSON.stringify(begun) ?? "(none)"}, not ${JSON.stringify(value)}; use the same, or choose another --out`,
      );
    }
    return;
  }
  if (existsSync(path)) throw new Error(`${path}: exists and wasn't written by this command; choose another --out`);
  writeJson(beside, settings);
}

function readSettings(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path}: not JSON, so nobody knows what the answers were made with; choose another --out`, {
      cause: error,
    });
  }
}

/** Counts the answers and gives the number of the record behind them. */
async function readAnswers(path: string, counts: AnswerCounts): Promise<number> {
  const file = await open(path);
  let [next, line, last] = [0, 0, ""];
  const { size } = await file.stat();
  const whole = await bytesOfLines(file);
  const lines = createInterface({ input: file.createReadStream({ start: 0 }), crlfDelay: Infinity });
  const take = (text: string): void => {
    const place = `${path}:${++line}`;
    const { record, finish } = parseLine(text, place);
    if (record < next)
      throw new Error(`${place}: record ${record} comes after record ${next - 1}; choose another --out`);
    counts.skipped += record - next;
    counts[finish === "stop" ? "finished" : "truncated"]++;
    next = record + 1;
  };
  for await (const text of lines) {
    if (last !== "") take(last);
    last = text;
  }
  // Half a line can be the last one only.
  if (whole < size) await truncate(path, whole);
  else if (last !== "") take(last);
  return next;
}

/** Bytes up to the end of the last line that has one. */
async function bytesOfLines(file: FileHandle): Promise<number> {
  let [offset, end] = [0, 0];
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) {
    const bytes: Buffer = chunk;
    const last = bytes.lastIndexOf(10);
    if (last >= 0) end = offset + last + 1;
    offset += bytes.length;
  }
  return end;
}

function parseLine(text: string, place: string): { record: number; finish: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (typeof value === "object" && value !== null && "record" in value && "finish" in value) {
    const { record, finish } = value;
    if (typeof record === "number" && Number.isInteger(record) && record >= 0) return { record, finish };
  }
  throw new Error(`${place}: not a line that this command writes; choose another --out`);
}
