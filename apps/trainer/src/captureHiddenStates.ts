import { existsSync } from "node:fs";
import { loadCausalLM } from "@dflash/causal-lm";
import { createChatBatches, type ChatBatch, loadTokenizer } from "@dflash/chat-data";
import { targetLayerIds } from "@dflash/drafter";
import { type EngineName, startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createHiddenStateWriter, createTargetForwardLoop, type HiddenStateWriter } from "@dflash/target-forward";
import { forCaller, fromCaller } from "./callerFolder.ts";
import { defaultData, defaultTarget } from "./defaultTarget.ts";
import { holdPlace, lockFile } from "./holdPlace.ts";
import { makeFolder } from "./makeFolder.ts";
import { fetchTarget } from "./train/fetchTarget.ts";
import { stopOnInterrupt } from "./train/stopOnInterrupt.ts";

/** What the command line may set. */
export interface CaptureFlags {
  target?: string;
  data?: string;
  out: string;
  engine?: EngineName | "auto";
  threads?: number;
  maxLength?: number;
  features?: number;
  records?: number;
  recordsPerFile?: number;
  onBad?: "stop" | "skip";
}

/** Records between two lines that say how far it is. */
const linesEvery = 100;

/** Runs the target over every record and writes its hidden states, those that are there already excepted. */
export async function captureHiddenStates(flags: CaptureFlags): Promise<void> {
  const target = flags.target === undefined ? defaultTarget : await fetchTarget(flags.target);
  const file = flags.data === undefined ? defaultData : fromCaller(flags.data);
  if (!existsSync(file)) throw new Error(`--data ${file}: no such file; give a JSONL file of chat records`);
  const dir = fromCaller(flags.out);
  await makeFolder("--out", dir);
  holdPlace(`--out ${forCaller(dir)}`, lockFile(dir));

  const tokenizer = await loadTokenizer(target);
  const { maxLength = 512, onBad = "stop", threads, records: most = Infinity } = flags;
  const chats = await createChatBatches({ file, tokenizer, batchRows: 1, maxLength, onBad, epochs: 1 });
  const engine = await startEngine(flags.engine ?? "auto", threads === undefined ? {} : { threads });
  const interrupt = stopOnInterrupt(console.log);
  const counts = { written: 0, there: 0 };

  // The batches whose records are in no file yet, numbered without gaps.
  async function* missing(writer: HiddenStateWriter): AsyncGenerator<ChatBatch> {
    for await (const batch of chats) {
      if (counts.written + counts.there >= most || interrupt.signal.aborted) return;
      if (await writer.has(batch.records[0]!, batch.ids)) counts.there++;
      else yield { ...batch, index: counts.written };
    }
  }

  try {
    const ops = createOps(engine);
    const model = await loadCausalLM(target, { ops });
    const layerIds = targetLayerIds(model.layers, flags.features ?? 5);
    console.log(`engine   ${engine.description}`);
    console.log(`target   ${forCaller(target)}: layers ${layerIds.join(", ")} and the last of ${model.layers}`);
    const writer = await createHiddenStateWriter({ dir, layerIds, recordsPerFile: flags.recordsPerFile ?? 1 });
    const loop = createTargetForwardLoop({ model, ops, batches: missing(writer), layerIds, captureLast: true });
    try {
      for await (const states of loop) {
        await writer.write(states);
        states.dispose();
        counts.written++;
        if (counts.written % linesEvery === 0) console.log(`${counts.written} records captured`);
      }
    } finally {
      await writer.close();
    }
    model.dispose();
  } finally {
    interrupt.release();
    await chats.close();
    engine.dispose();
  }
  console.log(`${counts.written} records written to ${forCaller(dir)}, ${counts.there} were there`);
  if (interrupt.signal.aborted) {
    console.log("the same command goes on where this one stopped");
    process.exitCode = interrupt.exitCode();
  }
}
