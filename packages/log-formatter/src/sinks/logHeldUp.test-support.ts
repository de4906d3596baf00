// Logs with a formatter that computes for less than is allowed, where other processes make it last longer.
import { EventEmitter } from "eventemitter3";
import { attachLog, type LogEvents } from "../attachLog.ts";
import { stepOf } from "../record.test-support.ts";
import { stdoutSink } from "./streamSink.ts";

const emitter = new EventEmitter<LogEvents>();
const log = attachLog(emitter, [
  [
    {
      step() {
        const [begin, start] = [performance.now(), process.cpuUsage()];
        for (let used = 0; used < 25_000;) {
          const { user, system } = process.cpuUsage(start);
          used = user + system;
        }
        return `${performance.now() - begin}\n`;
      },
    },
    stdoutSink(),
  ],
]);
for (let step = 1; step <= 6; step++) emitter.emit("step", stepOf(step));
await log.close();
