import { text } from "node:stream/consumers";
import { generate, measureAcceptance } from "@dflash/speculate";
import { stopOnInterrupt } from "../train/stopOnInterrupt.ts";
import { openPair, type PairFlags } from "./openPair.ts";
import { textStream } from "./textStream.ts";

/** What the command line may set. */
export interface GenerateFlags extends PairFlags {
  system?: string;
  maxNewTokens: number;
  temperature: number;
  seed: number;
}

const green = ["\u001b[32m", "\u001b[39m"] as const;

/** Answers a question on standard output while the answer grows; on a terminal the text that the drafter proposed is green. */
export async function generateAnswer(question: string | undefined, flags: GenerateFlags): Promise<void> {
  const content = (question ?? (await pipedQuestion())).trim();
  if (content === "") throw new Error('no question; give one: dflash generate "How many eggs …?", or pipe it in');
  const pair = await openPair(flags);
  const interrupt = stopOnInterrupt(() => {});
  try {
    const { ops, timer, target, drafter, tokenizer, stopIds, maxPositions } = pair;
    const messages = [
      ...(flags.system === undefined ? [] : [{ role: "system", content: flags.system }]),
      { role: "user", content },
    ];
    const prompt = tokenizer.encode(tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true }));
    const room = maxPositions - prompt.length;
    if (room < 1)
      throw new Error(
        `the question has ${prompt.length} tokens, of ${maxPositions} that it may have with its answer; ask less`,
      );
    const stream = textStream(tokenizer);
    const { NO_COLOR } = process.env;
    const [open, close] = process.stdout.isTTY && !NO_COLOR ? green : ["", ""];
    const show = (shown: string, drafted: boolean): void => {
      if (shown !== "") process.stdout.write(drafted ? `${open}${shown}${close}` : shown);
    };
    let begun: number | null = null;
    const { temperature, seed, blockSize } = flags;
    const [answer] = await generate({
      ops,
      timer,
      target,
      drafter,
      prompts: [Int32Array.from(prompt)],
      maxNewTokens: Math.min(flags.maxNewTokens, room),
      stopIds,
      temperature,
      seed,
      ...(blockSize === undefined ? {} : { blockSize }),
      signal: interrupt.signal,
      onTokens({ ids, accepted }) {
        // The first comes with its prompt, whose time is not the answer's.
        begun ??= performance.now();
        const parts = [
          { part: ids.slice(0, accepted), drafted: true },
          { part: ids.slice(accepted), drafted: false },
        ];
        for (const { part, drafted } of parts) show(stream.push(part.filter((id) => !stopIds.includes(id))), drafted);
      },
    });
    process.stdout.write(`${stream.end()}\n`);
    const ms = performance.now() - (begun ?? performance.now());
    const tokens = answer!.ids.length;
    const { pooled, rounds } = measureAcceptance([answer!], drafter?.config.blockSize ?? 1);
    const figures = [
      `${tokens} ${tokens === 1 ? "token" : "tokens"} ${drafter === null ? "without a drafter" : `in ${rounds} rounds`}`,
      ...(drafter === null || pooled === null ? [] : [`acceptance length ${pooled.toFixed(2)}`]),
      ...(tokens > 1 ? [`${((1000 * (tokens - 1)) / ms).toFixed(1)} tokens/s`] : []),
      `ended by ${answer!.finish}`,
    ];
    console.error(figures.join(", "));
    if (interrupt.signal.aborted) process.exitCode = interrupt.exitCode();
  } finally {
    interrupt.release();
    pair.dispose();
  }
}

/** What is piped in; nothing on a terminal. */
async function pipedQuestion(): Promise<string> {
  return process.stdin.isTTY ? "" : text(process.stdin);
}
