import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openChatFile } from "@dflash/chat-data";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { defaultData } from "../defaultTarget.ts";
import { holdPlace } from "../holdPlace.ts";
import { makeFolder } from "../makeFolder.ts";
import { showProgress } from "../showProgress.ts";
import { stopOnInterrupt } from "../train/stopOnInterrupt.ts";
import { answerTurns, type NumberedRecord } from "./answerTurns.ts";
import { checksumOf } from "./checksumOf.ts";
import { openAnswerFile } from "./openAnswerFile.ts";
import { openPair, type PairFlags } from "./openPair.ts";

/** What the command line may set. */
export interface RegenerateFlags extends PairFlags {
  data?: string;
  out: string;
  records?: number;
  maxNewTokens: number;
  temperature: number;
  seed: number;
  batch: number;
}

/** Replaces the answers of a data file by the target's own, batch by batch; goes on where an earlier call stopped. */
export async function regenerateAnswers(flags: RegenerateFlags): Promise<void> {
  const file = flags.data === undefined ? defaultData : fromCaller(flags.data);
  if (!existsSync(file)) throw new Error(`--data ${file}: no such file; give a JSONL file of chat records`);
  const out = fromCaller(flags.out);
  await makeFolder("--out", dirname(out));
  holdPlace(`--out ${forCaller(out)}`, `${out}.lock`);
  const { maxNewTokens, temperature, seed, batch } = flags;
  const pair = await openPair(flags);
  const { ops, timer, target, drafter, tokenizer, stopIds, maxPositions } = pair;
  const chats = await openChatFile(file);
  const settings = {
    target: pair.targetFolder,
    targetChecksum: await checksumOf(modelFiles(pair.targetFolder)),
    data: file,
    dataChecksum: await checksumOf([file]),
    maxNewTokens,
    temperature,
    seed,
    matmulPrecision: flags.matmulPrecision ?? null,
  };
  const answers = await openAnswerFile(out, settings);
  const progress = showProgress();
  const interrupt = stopOnInterrupt(progress.say);
  const { signal } = interrupt;
  const options = {
    ops,
    timer,
    target,
    drafter,
    tokenizer,
    stopIds,
    maxPositions,
    maxNewTokens,
    temperature,
    seed,
    signal,
  };
  try {
    if (answers.next > 0) console.log(`${answers.next} records are there`);
    const end = Math.min(chats.length, flags.records ?? Infinity);
    while (answers.next < end) {
      const records: NumberedRecord[] = [];
      for (let row = answers.next; row < Math.min(end, answers.next + batch); row++)
        records.push({ row, record: await chats.read(row) });
      const answered = await answerTurns(records, options);
      if (answered === null) break;
      await answers.write(answered);
      progress.say(`${answers.next} of ${end} records`);
    }
    progress.end();
    const { finished, truncated, skipped } = answers.counts;
    console.log(`finished   ${finished}`);
    console.log(`truncated  ${truncated}, at ${maxNewTokens} tokens`);
    console.log(`skipped    ${skipped}, without a question or too long`);
    console.log(`written to ${forCaller(fromCaller(flags.out))}`);
    if (signal.aborted) {
      console.log("the same command goes on where this one stopped");
      process.exitCode = interrupt.exitCode();
    }
  } finally {
    progress.end();
    interrupt.release();
    await answers.close();
    await chats.close();
    pair.dispose();
  }
}

/** What a model's answers depend on: weights, config, tokenizer, template. */
function modelFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /\.(safetensors|json|jinja)$/.test(name));
  return names.toSorted().map((name) => join(folder, name));
}
