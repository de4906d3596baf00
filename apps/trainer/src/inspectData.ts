import { type ChatDataReport, inspectChatData, loadTokenizer, type TextPiece } from "@dflash/chat-data";
import { fromCaller } from "./callerFolder.ts";
import { defaultTarget } from "./defaultTarget.ts";
import { fetchTarget } from "./train/fetchTarget.ts";

/** Flags of `dflash data inspect`. */
export interface InspectFlags {
  target?: string;
  maxLength?: number;
  lastTurnOnly?: boolean;
  examples: number;
}

/** Prints what a data file gives to a training run, with some of its records. */
export async function inspectData(file: string, { target, ...options }: InspectFlags): Promise<void> {
  const tokenizer = await loadTokenizer(target === undefined ? defaultTarget : await fetchTarget(target));
  const report = await inspectChatData({ file: fromCaller(file), tokenizer, ...options });
  for (const line of describe(report)) console.log(line);
  for (const example of report.examples) console.log(`\n${marked(example)}`);
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
