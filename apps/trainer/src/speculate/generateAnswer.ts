import { text } from "node:stream/consumers";
import { generate, measureAcceptance } from "@dflash/speculate";
import { stopOnInterrupt } from "../train/stopOnInterrupt.ts";
import { openPair, type PairFlags } from "./openPair.ts";
import { textStream } from "./textStream.ts";

/** What the command line may set. */
export interface GenerateFlags extends PairFlags {
  system?: string;
  maxNewTokens: number;
  blockSize?: number;
  temperature: number;
  seed: number;
}

const green = ["\u001b[32m", "\u001b[39m"] as const;

/** Answers a question on standard output while the answer grows; on a terminal the text that the drafter proposed is green. */
export async function generateAnswer(question: string | undefined, flags: GenerateFlags): Promise<void> {
  const content = question ?? (await readQuestion());
  const pair = await openPair(flags);
  const interrupt = stopOnInterrupt(() => {});
  try {
    const { ops, timer, target, drafter, tokenizer, stopIds } = pair;
    const messages = [
      ...(flags.system === undefined ? [] : [{ role: "system", content: flags.system }]),
      { role: "user", content },
    ];
    const prompt = tokenizer.encode(tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true }));
    const stream = textStream(tokenizer);
    const { NO_COLOR } = process.env;
    const [open, close] = process.stdout.isTTY && !NO_COLOR ? green : ["", ""];
    const show = (shown: string, drafted: boolean): void => {
      if (shown !== "") process.stdout.write(drafted ? `${open}${shown}${close}` : shown);
    };
    const start = performance.now();
    const { maxNewTokens, temperature, seed, blockSize } = flags;
    const [answer] = await generate({
      ops,
      timer,
      target,
      drafter,
      prompts: [Int32Array.from(prompt)],
      maxNewTokens,
      stopIds,
      temperature,
      seed,
      ...(blockSize === undefined ? {} : { blockSize }),
      signal: interrupt.signal,
      onTokens({ ids, accepted }) {
        const parts = [
          { part: ids.slice(0, accepted), drafted: true },
          { part: ids.slice(accepted), drafted: false },
        ];
        for (const { part, drafted } of parts) show(stream.push(part.filter((id) => !stopIds.includes(id))), drafted);
      },
    });
    process.stdout.write(`${stream.end()}\n`);
    const seconds = (performance.now() - start) / 1000;
    const tokens = answer!.ids.length;
    const { pooled, rounds } = measureAcceptance([answer!], drafter?.config.blockSize ?? 1);
    const how =
      drafter === null ? "without a drafter" : `in ${rounds} rounds, acceptance length ${pooled?.toFixed(2) ?? "-"}`;
    console.error(`${tokens} tokens ${how}, ${(tokens / seconds).toFixed(1)} tokens/s, ended by ${answer!.finish}`);
    if (interrupt.signal.aborted) process.exitCode = interrupt.exitCode();
  } finally {
    interrupt.release();
    pair.dispose();
  }
}

/** What is piped in. */
async function readQuestion(): Promise<string> {
  const piped = process.stdin.isTTY ? "" : (await text(process.stdin)).trim();
  if (piped === "") throw new Error('no question; give one: dflash generate "How many eggs …?", or pipe it in');
  return piped;
}
