import { chatRows, type ChatRow, type RowPosition } from "./chatRows.ts";
import { createChatEncoder, type ChatEncoderOptions } from "./createChatEncoder.ts";
import { groupRows, longestRow, windowRows, type GroupRowsOptions } from "./groupRows.ts";
import { openChatFile, type OpenChatFileOptions } from "./openChatFile.ts";
import type { SkipReason } from "./skipTally.ts";
import { toTokenBatch, type RowGroup, type TokenBatch } from "./tokenBatch.ts";

/** A place in the order of batches, enough to go on from there. */
export interface ChatPosition extends RowPosition {
  /** Index of the next batch. */
  readonly batch: number;
  /** Batches already handed out of the rows that are grouped together from there. */
  readonly taken: number;
}

/** A batch that knows where its rows come from and where the order goes on. */
export interface ChatBatch extends TokenBatch {
  /** Record of each row in the file, from 0; length rows. */
  readonly records: Int32Array;
  /** Where to start to get the batch behind this one. */
  readonly next: ChatPosition;
}

/** What was handed out so far, and what was left out. */
export interface ChatCounters {
  /** Rows handed out. */
  rows: number;
  /** Rows cut at `maxLength`. */
  truncatedRows: number;
  /** Tokens, padding included. */
  tokens: number;
  /** Tokens whose loss counts. */
  supervisedTokens: number;
  /** Tokens that only fill a shape: their share of `tokens` is wasted. */
  paddingTokens: number;
  /** Rows left out because two supervised tokens stand side by side nowhere in them. */
  unsupervisedRows: number;
  /** Rows left out because they don't fit the chat template, with `onBad: "skip"`. */
  badRows: number;
}

/** Options of {@link createChatBatches}. */
export interface ChatBatchesOptions extends ChatEncoderOptions, OpenChatFileOptions, GroupRowsOptions {
  /** Data file, as for `openChatFile`. */
  readonly file: string;
  /** The order of the rows is a function of this and of the epoch. Default 0. */
  readonly seed?: number;
  /** The first epoch that is not run. Default: without end. */
  readonly epochs?: number;
  /** Where to start: `next` of the last batch that was used. Default: at the beginning. */
  readonly start?: ChatPosition;
}

/** Batches, one epoch behind the other. */
export interface ChatBatches extends AsyncIterable<ChatBatch> {
  /** Records in the file that can be read. */
  readonly records: number;
  /** Records that can't, with `onBad: "skip"`. */
  readonly bad: readonly SkipReason[];
  /** What was read so far. */
  readonly counters: Readonly<ChatCounters>;
  /** Closes the file. */
  close(): Promise<void>;
}

/**
 * Turns a data file into batches of tokens in a seeded order. Rows are read and tokenised when they are needed, so the
 * first batch is there at once.
 *
 * @throws {Error} One line that names the option, or the file and the line, and what was expected.
 */
export async function createChatBatches(options: ChatBatchesOptions): Promise<ChatBatches> {
  const { tokenizer, seed = 0, epochs = Infinity, maxLength = Infinity, onBad } = options;
  const { start = { batch: 0, epoch: 0, row: 0, taken: 0 } } = options;
  const size = windowRows(options);
  const padId = tokenizer.padTokenId ?? tokenizer.eosTokenId ?? 0;
  const encode = createChatEncoder({ ...options, maxLength: Math.min(maxLength, longestRow(options)) });
  const file = await openChatFile(options.file, options);
  const counters: ChatCounters = {
    rows: 0,
    truncatedRows: 0,
    tokens: 0,
    supervisedTokens: 0,
    paddingTokens: 0,
    unsupervisedRows: 0,
    badRows: 0,
  };
  const onSkip = (error: Error | undefined): void => {
    if (error !== undefined && onBad !== "skip") throw error;
    counters[error === undefined ? "unsupervisedRows" : "badRows"]++;
  };

  async function* batches(): AsyncGenerator<ChatBatch> {
    let { batch, taken } = start;
    const rows = chatRows({ file, encode, seed, epochs, start, onSkip });
    for await (const window of windows(rows, size, start)) {
      const groups = groupRows(window.rows, options, [seed, window.from.epoch, window.from.row]);
      for (; taken < groups.length; taken++) {
        const tokens = toTokenBatch(batch++, groups[taken]!, padId);
        count(counters, groups[taken]!, tokens);
        const isLast = taken === groups.length - 1;
        const next = isLast ? { ...window.to, taken: 0 } : { ...window.from, taken: taken + 1 };
        const records = Int32Array.from(groups[taken]!.rows, ({ record }) => record);
        yield { ...tokens, records, next: { batch, ...next } };
      }
      taken = 0;
    }
  }

  return { records: file.length, bad: file.bad, counters, close: () => file.close(), [Symbol.asyncIterator]: batches };
}

/**
 * Cuts the stream of rows into windows.
 *
 * @yields {object} So many rows, at the end fewer, with the positions before and behind them.
 */
async function* windows(
  rows: AsyncIterable<{ row: ChatRow; to: RowPosition }>,
  size: number,
  { epoch, row: startRow }: RowPosition,
): AsyncGenerator<{ rows: ChatRow[]; from: RowPosition; to: RowPosition }> {
  let window = { rows: Array<ChatRow>(), from: { epoch, row: startRow }, to: { epoch, row: startRow } };
  for await (const { row, to } of rows) {
    window.rows.push(row);
    window.to = to;
    if (window.rows.length < size) continue;
    yield window;
    window = { rows: [], from: to, to };
  }
  if (window.rows.length > 0) yield window;
}

function count(counters: ChatCounters, { rows }: RowGroup<ChatRow>, batch: TokenBatch): void {
  counters.rows += rows.length;
  counters.tokens += batch.ids.length;
  counters.paddingTokens += batch.ids.length;
  for (const { ids, truncated } of rows) {
    counters.paddingTokens -= ids.length;
    counters.truncatedRows += Number(truncated > 0);
  }
  for (const supervised of batch.lossMask) counters.supervisedTokens += supervised;
}
