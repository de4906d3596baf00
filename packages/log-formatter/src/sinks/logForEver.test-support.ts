// Logs steps until it is killed; notes each one elsewhere once `emit` has returned.
import { openSync, writeSync } from "node:fs";
import { EventEmitter } from "eventemitter3";
import { attachLog, type LogEvents } from "../attachLog.ts";
import { ndjson } from "../formatters/ndjson.ts";
import type { HeaderRecord, StepRecord } from "../record.ts";
import { fileSink } from "./fileSink.ts";

const [path = "", notes = "", given = "", maxBytes = ""] = process.argv.slice(2);
const { header, step: first } = JSON.parse(given) as { header: HeaderRecord; step: StepRecord };
const emitter = new EventEmitter<LogEvents>();
attachLog(emitter, [[ndjson, fileSink(path, { maxBytes: Number(maxBytes) })]]);
const file = openSync(notes, "w");
emitter.emit("header", header);
for (let step = first.step; ; step++) {
  emitter.emit("step", { ...first, step });
  writeSync(file, String(step).padStart(16), 0);
  if (step === first.step) writeSync(1, "begun\n");
}
