/** A program of its own: closes a worker whose answer has come but was not read yet, and says so once it is closed. */
import { tokenBatch } from "../packed.test-support.ts";
import { startTargetWorkers } from "./startTargetWorkers.ts";

const module = new URL("../linearTarget.test-support.ts", import.meta.url).href;
const workers = await startTargetWorkers({ count: 1, module, options: {}, engine: { name: "cpu" } });
const states = workers
  .states(tokenBatch(0, 3), { layerIds: [0], captureLast: false, layout: "joined" })
  .catch(() => {});
// Only this thread stands still meanwhile.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
await workers.close();
await states;
console.log("closed");
