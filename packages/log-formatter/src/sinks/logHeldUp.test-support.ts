// Logs with a formatter that stands still, as on a busy machine, and at last for too long. A process of its own: other tests' threads compute.
import { EventEmitter } from "eventemitter3";
import { attachLog, type LogEvents } from "../attachLog.ts";
import { stepOf } from "../record.test-support.ts";
import { stdoutSink } from "./streamSink.ts";

const pauses = [60, 60, 60, 60, 1100];
const held = new Int32Array(new SharedArrayBuffer(4));
const emitter = new EventEmitter<LogEvents>();
const log = attachLog(emitter, [
  [
    function step() {
      return {
        step({ step: number }) {
          Atomics.wait(held, 0, 0, pauses[number - 1]);
          return `${number}\n`;
        },
      };
    },
    stdoutSink(),
  ],
]);
for (const index of pauses.keys()) emitter.emit("step", stepOf(index + 1));
await log.close();
