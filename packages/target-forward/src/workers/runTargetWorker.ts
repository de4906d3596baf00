import { on } from "node:events";
import { writeSync } from "node:fs";
import { parentPort, type TransferListItem } from "node:worker_threads";
import { startEngine } from "@dflash/engine";
import { createOps, type Tensor } from "@dflash/ops";
import { float32ToBfloat16 } from "@dflash/safetensors";
import { createTimer, type Timer } from "@dflash/timer";
import { observeCauses } from "@dflash/timer/causes";
import { type SharedTimer, shareTimer, type StreamedTimer, streamTimer } from "@dflash/timer/lanes";
import { hostBuffers, hostBytes, type HostMatrix } from "../hostHiddenStates.ts";
import { featureTensors, packHiddenStates } from "../loop/packHiddenStates.ts";
import type { LoadTarget, TargetHiddenStates } from "../targetModel.ts";
import {
  boundaryPipe,
  type WireFormat,
  type WorkerMessage,
  type WorkerReply,
  type WorkerRequest,
} from "./workerMessages.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs in a worker thread or process: loads the model, then computes what it is asked for, one batch after another. */
async function runTargetWorker(): Promise<void> {
  const messages: AsyncIterator<WorkerMessage[], undefined> = on(parentPort ?? process, "message");
  const receive = async (): Promise<WorkerMessage | undefined> => (await messages.next()).value?.[0];

  const setup = await receive();
  if (setup?.kind !== "setup") throw new TypeError("a target worker's first message is not its setup");
  const { module, options, engine: wanted, lane, wire, timed } = setup;
  const { name: engineName = "auto", ...engineOptions } = wanted;
  const engine = await startEngine(engineName, { threads: 1, ...engineOptions });
  const ops = createOps(engine);
  const timer = createTimer({ lane, shared: timed && parentPort !== null });
  observeCauses(timer, engine.counters);
  timer.enabled = timed;
  const laneTimer: Pick<Timer, "section"> = { section: (name, more) => timer.section(name, { ...more, lane }) };
  const loaded: { default?: LoadTarget<unknown> } = await import(module);
  if (typeof loaded.default !== "function")
    throw new TypeError(
      `${module}: its default export is ${typeof loaded.default}, expected a function that loads a model`,
    );
  const model = await loaded.default(options, { ops, timer: laneTimer });
  const sections = {
    idle: laneTimer.section("target/idle", { role: "wait", waitsFor: "drafter" }),
    forward: laneTimer.section("target/forward"),
    pack: laneTimer.section("target/pack", { role: "packing" }),
    handOver: laneTimer.section("target/hand-over", { role: "packing" }),
  };
  const { layers, hiddenSize } = model;
  const times = !timed ? null : parentPort ? shareTimer(timer) : streamTimer(timer, sendBoundary);
  void post({ kind: "ready", layers, hiddenSize, engine: engine.description, timer: times });

  /** Packs what was captured and copies it out of the engine. */
  async function handOver(
    { id, batch, capture }: Omit<WorkerRequest, "kind">,
    hidden: TargetHiddenStates,
  ): Promise<void> {
    const packed = sections.pack.time(() => packHiddenStates({ ops, ...capture }, batch, hidden));
    try {
      await sections.handOver.time(async () => {
        const features = await Promise.all(featureTensors(packed).map((tensor) => toHost(tensor, wire)));
        const last = packed.last && (await toHost(packed.last, wire));
        sections.handOver.add("bytes", hostBytes({ batch, features, last }));
        const transfer = hostBuffers({ features, last });
        await post({ kind: "states", id, features, last, memory: engine.memory() }, transfer);
      });
    } finally {
      packed.dispose();
    }
  }

  // While one batch is handed over, the next one's forward may run on engines that compute beside this thread.
  let handing = Promise.resolve();
  for (let request = await receive(); request?.kind === "forward"; request = await sections.idle.time(receive)) {
    const { id, batch, capture } = request;
    try {
      const hidden = await sections.forward.time(() => model.forward(batch, capture));
      sections.forward.add("tokens", batch.ids.length);
      await handing;
      handing = handOver({ id, batch, capture }, hidden).catch((error: unknown) => fail(id, error));
      // What has been read goes out before a forward that blocks this thread; what is not read yet does not hold the forward up.
      await turn();
      await sending;
    } catch (error) {
      fail(id, error);
    }
  }
}

async function toHost(tensor: Tensor, wire: WireFormat): Promise<HostMatrix> {
  const values = await tensor.read();
  if (!(values instanceof Float32Array)) throw new TypeError(`the model captured ${tensor.dtype}, expected float32`);
  return { values: wire === "bfloat16" ? float32ToBfloat16(values) : values, width: tensor.shape.at(-1)! };
}

/** The last message's way out of a process: it only moves while the thread is free. */
let sending = Promise.resolve();

function post(
  reply: WorkerReply<SharedTimer | StreamedTimer>,
  transfer: readonly TransferListItem[] = [],
): Promise<void> {
  if (parentPort) parentPort.postMessage(reply, transfer);
  else sending = new Promise((resolve) => process.send?.(reply, () => resolve()));
  return sending;
}

function sendBoundary(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) sent += writeSync(boundaryPipe, bytes, sent);
}

function fail(id: number | null, error: unknown): void {
  void post({ kind: "failed", id, message: error instanceof Error ? error.message : String(error) });
}

// Without its parent a process has nobody to work for.
if (!parentPort) process.on("disconnect", () => process.exit());
await runTargetWorker().catch((error: unknown) => fail(null, error));
