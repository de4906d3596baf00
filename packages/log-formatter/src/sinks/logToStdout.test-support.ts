// A process that logs to its stdout; what it is to do stands in its arguments.
import { EventEmitter } from "eventemitter3";
import { attachLog, type LogEvents } from "../attachLog.ts";
import { builtInFormatters } from "../loadFormatter.ts";
import { headerOf, stepOf } from "../record.test-support.ts";
import { stdoutSink } from "./streamSink.ts";

const [format = "pretty", steps = "3"] = process.argv.slice(2);
const emitter = new EventEmitter<LogEvents>();
const log = attachLog(emitter, [[builtInFormatters[format]!, stdoutSink()]], {
  onFault: ({ output, error }) => console.error(`off: ${output}: ${error.message}`),
});
emitter.emit("header", headerOf([]));
for (let step = 1; step <= Number(steps); step++) {
  emitter.emit("step", stepOf(step));
  if (step % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
await log.close();
console.error(`done: ${steps} steps`);
process.exit();
