/**
 * A program of its own, to lead a process group: sends Ctrl-C to the group as a terminal does, and hears it as one who saves first.
 * Says which process computed before and after, and ends without closing it.
 */
import { tokenBatch } from "../packed.test-support.ts";
import { startTargetWorkers } from "./startTargetWorkers.ts";

process.on("SIGINT", () => {});
const module = new URL("../deviceTarget.test-support.ts", import.meta.url).href;
const more = { count: 1, placement: "process", devices: [0] } as const;
const workers = await startTargetWorkers({ module, options: {}, engine: { name: "cpu" }, ...more });

async function pid(index: number): Promise<number | undefined> {
  const states = await workers.states(tokenBatch(index, 3), { layerIds: [0], captureLast: false, layout: "joined" });
  return states?.features[0]?.values[2];
}

const before = await pid(0);
process.kill(-process.pid, "SIGINT");
console.log(JSON.stringify([before, await pid(1)]));
process.exit();
