import { type ChatDataReport, inspectChatData, loadTokenizer, type TextPiece } from "@dflash/chat-data";
import { Command } from "commander";
import { fromCaller } from "../callerFolder.ts";
import { defaultTarget } from "../defaultTarget.ts";
import { integer } from "../numberArguments.ts";

interface InspectFlags {
  target: string;
  maxLength?: number;
  lastTurnOnly?: boolean;
  examples: number;
}

/** `dflash data inspect`: what a data file gives to a training run. */
export function dataCommand(): Command {
  const inspect = new Command("inspect")
    .description("count records, tokens and supervised tokens of a data file and show some with their loss mask")
    .argument("<file>", "chat records, JSONL or JSON, gzip too")
    .option("--target <dir>", "folder whose tokenizer and chat template are used", defaultTarget)
    .option("--max-length <n>", "cut longer records", integer(4, 1_048_576))
    .option("--last-turn-only", "supervise the last answer of a conversation only")
    .option("--examples <n>", "records to show", integer(0, 1000), 3)
    .action(async (file: string, { target, ...options }: InspectFlags) => {
      const tokenizer = await loadTokenizer(fromCaller(target));
      const report = await inspectChatData({ file: fromCaller(file), tokenizer, ...options });
      for (const line of describe(report)) console.log(line);
      for (const example of report.examples) console.log(`\n${marked(example)}`);
    });
  return new Command("data").description("look into data files").addCommand(inspect);
}

function describe(report: ChatDataReport): string[] {
  const { records, rows, skipped, truncatedRows, tokens, supervisedTokens, lengths } = report;
  const share = tokens === 0 ? "-" : `${((100 * supervisedTokens) / tokens).toFixed(1)} %`;
  return [
    `records     ${records}`,
    `rows        ${rows} to train on, ${truncatedRows} of them cut`,
    `tokens      ${tokens}, ${supervisedTokens} supervised (${share})`,
    `lengths     min ${lengths.min}  p50 ${lengths.p50}  p90 ${lengths.p90}  p99 ${lengths.p99}  max ${lengths.max}`,
    ...skipped.map(({ reason, count, first }) => `left out    ${count}: ${reason} (first: ${first})`),
  ];
}

/** Supervised text stands out: green on a terminal, in ⟦ ⟧ elsewhere. */
function marked(pieces: readonly TextPiece[]): string {
  const { NO_COLOR } = process.env;
  const color = process.stdout.isTTY && (NO_COLOR === undefined || NO_COLOR === "");
  const [open, close] = color ? ["\u001b[32m", "\u001b[0m"] : ["⟦", "⟧"];
  return pieces.map(({ text, supervised }) => (supervised ? `${open}${text}${close}` : text)).join("");
}
