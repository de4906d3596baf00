import {
  createChatEncoder,
  hasSupervisedPair,
  type ChatEncoderOptions,
  type EncodedChat,
} from "./createChatEncoder.ts";
import type { ChatTokenizer } from "./loadTokenizer.ts";
import { oneLine } from "./oneLine.ts";
import { openChatFile } from "./openChatFile.ts";
import { createSkipTally, type SkipReason } from "./skipTally.ts";
import type { TokenRow } from "./tokenBatch.ts";

/** Options of {@link inspectChatData}. */
export interface InspectChatDataOptions extends ChatEncoderOptions {
  /** Data file, as for `openChatFile`. */
  readonly file: string;
  /** Records given back as examples, from the file's beginning. Default 3. */
  readonly examples?: number;
}

/** A run of tokens that are all supervised or all not. */
export interface TextPiece {
  /** A stretch of a row, special tokens included. */
  readonly text: string;
  /** Whether its tokens are supervised. */
  readonly supervised: boolean;
}

/** What a data file gives to a training run. */
export interface ChatDataReport {
  /** Records in the file. */
  readonly records: number;
  /** Records that can be trained on. */
  readonly rows: number;
  /** Records that can't, by reason. */
  readonly skipped: readonly SkipReason[];
  /** Rows cut at `maxLength`. */
  readonly truncatedRows: number;
  /** Tokens of all rows. */
  readonly tokens: number;
  /** Those whose loss counts. */
  readonly supervisedTokens: number;
  /** Tokens a row, after truncation. */
  readonly lengths: {
    readonly min: number;
    readonly p50: number;
    readonly p90: number;
    readonly p99: number;
    readonly max: number;
  };
  /** The first rows as text, so that a wrong mask is seen at a glance. */
  readonly examples: readonly (readonly TextPiece[])[];
}

/**
 * Reads a whole data file as a training run would, bad records skipped, and reports what is in it.
 *
 * @throws {Error} One line when the file can't be read or holds no record that can.
 */
export async function inspectChatData(options: InspectChatDataOptions): Promise<ChatDataReport> {
  const { tokenizer, examples: wanted = 3 } = options;
  const encode = createChatEncoder(options);
  const file = await openChatFile(options.file, { onBad: "skip" });
  const skipped = createSkipTally();
  const lengths: number[] = [];
  const examples: TextPiece[][] = [];
  let [truncatedRows, supervisedTokens] = [0, 0];
  try {
    for (let row = 0; row < file.length; row++) {
      const record = await file.read(row);
      let encoded: EncodedChat;
      try {
        encoded = encode(record);
      } catch (error) {
        skipped.add(oneLine(error), file.place(row));
        continue;
      }
      if (examples.length < wanted) examples.push(textPieces(encoded, tokenizer));
      if (!hasSupervisedPair(encoded)) {
        skipped.add("two supervised tokens stand side by side nowhere in it", file.place(row));
        continue;
      }
      lengths.push(encoded.ids.length);
      truncatedRows += Number(encoded.truncated > 0);
      supervisedTokens += encoded.lossMask.reduce((sum, supervised) => sum + supervised, 0);
    }
  } finally {
    await file.close();
  }
  lengths.sort((a, b) => a - b);
  const quantile = (q: number): number => lengths[Math.ceil(q * lengths.length) - 1] ?? 0;
  return {
    records: file.length + file.bad.reduce((sum, { count }) => sum + count, 0),
    rows: lengths.length,
    skipped: [...file.bad, ...skipped.reasons()].toSorted((a, b) => b.count - a.count),
    truncatedRows,
    tokens: lengths.reduce((sum, length) => sum + length, 0),
    supervisedTokens,
    lengths: {
      min: lengths[0] ?? 0,
      p50: quantile(0.5),
      p90: quantile(0.9),
      p99: quantile(0.99),
      max: lengths.at(-1) ?? 0,
    },
    examples,
  };
}

/** Text of each run of tokens that are all supervised or all not. */
function textPieces({ ids, lossMask }: TokenRow, tokenizer: ChatTokenizer): TextPiece[] {
  const pieces: TextPiece[] = [];
  for (let start = 0, end = 0; start < ids.length; start = end) {
    while (end < ids.length && lossMask[end] === lossMask[start]) end++;
    pieces.push({ text: tokenizer.decode(ids.subarray(start, end)), supervised: lossMask[start] === 1 });
  }
  return pieces;
}
