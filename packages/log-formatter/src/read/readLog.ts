import { existsSync } from "node:fs";
import type { LateRecord, LogRecord, StepRecord } from "../record.ts";
import { jsonOf, parseRecord } from "./parseRecord.ts";
import { readLines, type Follow } from "./readLines.ts";

/** How a log is read. */
export interface ReadLogOptions {
  /** Go on with what is still being written, until the signal aborts. */
  follow?: Follow;
  /** Called for each line that is no JSON, which a process killed while writing leaves behind; such lines are skipped. */
  onTorn?: (place: string) => void;
}

/** Steps held back for the late records that belong to them. */
const lateWindow = 64;

/**
 * Reads an NDJSON log, its rotated parts first. Torn lines are skipped; what a resumed run did again replaces what the attempt
 * before had done from there on; late records are merged into their steps (when following: given as they come).
 * @yields Its records.
 * @throws Error naming file and line for a line that is JSON and no record.
 */
export async function* readLog(path: string, options: ReadLogOptions = {}): AsyncGenerator<LogRecord> {
  const ends = await attemptEnds(path);
  const window: StepRecord[] = [];
  let attempt = 0;
  for await (const record of rawRecords(path, options)) {
    if (record.kind === "header") attempt++;
    const stale = "step" in record && record.step >= (ends[attempt] ?? Infinity);
    if (stale) continue;
    if (record.kind === "late" && mergeLate(window, record)) continue;
    if (record.kind === "step" && options.follow === undefined) {
      if (window.push(record) > lateWindow) yield window.shift()!;
      continue;
    }
    // What is no step keeps its place among them.
    yield* window.splice(0);
    yield record;
  }
  yield* window;
}

/** By attempt, counted in headers: the first step that a later attempt did again. Torn lines are no headers. */
async function attemptEnds(path: string): Promise<number[]> {
  const firsts: number[] = [Infinity];
  for (const file of partsOf(path)) {
    for await (const { text } of readLines(file)) {
      // Of the many steps of an attempt only the first one is parsed here.
      const mayCount = firsts.at(-1) === Infinity || text.includes('"header"');
      const value: unknown = mayCount ? jsonOf(text) : null;
      if (typeof value !== "object" || value === null || !("kind" in value)) continue;
      if (value.kind === "header") firsts.push(Infinity);
      else if (firsts.at(-1) === Infinity && value.kind === "step" && "step" in value && Number.isInteger(value.step))
        firsts[firsts.length - 1] = Number(value.step);
    }
  }
  return firsts.map((_, attempt) => Math.min(Infinity, ...firsts.slice(attempt + 1)));
}

/**
 * Reads all parts of a log as they are.
 * @yields Their records.
 */
async function* rawRecords(path: string, { follow, onTorn }: ReadLogOptions): AsyncGenerator<LogRecord> {
  for (const file of partsOf(path)) {
    for await (const { text, number } of readLines(file, file === path ? follow : undefined)) {
      if (text.trim() === "") continue;
      let record: LogRecord | null | undefined;
      try {
        record = parseRecord(text);
      } catch (error) {
        throw new Error(`${file}:${number}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
      if (record === null) onTorn?.(`${file}:${number}`);
      else if (record !== undefined) yield record;
    }
  }
}

/** `path.1`, `path.2`, … that a rotating sink left, then the file itself, unless the process died before it began anew. */
function partsOf(path: string): string[] {
  const parts: string[] = [];
  while (existsSync(`${path}.${parts.length + 1}`)) parts.push(`${path}.${parts.length + 1}`);
  return parts.length > 0 && !existsSync(path) ? parts : [...parts, path];
}

function mergeLate(window: readonly StepRecord[], late: LateRecord): boolean {
  const step = window.find((record) => record.step === late.step);
  if (step === undefined) return false;
  for (const [name, values] of Object.entries(late.sections)) {
    const section = step.sections[name];
    if (section === undefined) continue;
    if (typeof values.ms === "number" || typeof values.device_ms === "number") delete section.reason;
    Object.assign(section, values);
  }
  return true;
}
