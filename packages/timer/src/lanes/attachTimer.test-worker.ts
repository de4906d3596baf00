import { parentPort, workerData } from "node:worker_threads";
import { shareTimer } from "./shareTimer.ts";
import { createTimer } from "../createTimer.ts";

/** Runs `rounds` forwards, each half busy and half waiting, whenever it is told to. */
const timer = createTimer({ lane: String(workerData), shared: true });
const forward = timer.section("forward");
const wait = timer.section("wait", { role: "wait", waitsFor: "main" });
forward.start();
forward.stop();
parentPort!.postMessage(shareTimer(timer), []);
parentPort!.on("message", (rounds: number) => {
  for (let round = 0; round < rounds; round += 1) {
    forward.time(() => {
      forward.add("tokens", 10);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    });
    wait.time(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1));
  }
  parentPort!.postMessage("done", []);
});
