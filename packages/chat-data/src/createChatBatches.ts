import { createChatEncoder, hasSupervisedPair, type EncodedChat } from "./createChatEncoder.ts";
import type { ChatTokenizer } from "./loadTokenizer.ts";
import { openChatFile, type ChatFile } from "./openChatFile.ts";
import { oneLine } from "./chatRecord.ts";
import { rowOrder } from "./rowOrder.ts";
import { toTokenBatch, type TokenBatch } from "./tokenBatch.ts";

/** A place in the endless order of batches. */
export interface ChatPosition {
  /** Index of the next batch. */
  readonly batch: number;
  readonly epoch: number;
  /** Rows of the epoch's order that are used up. */
  readonly row: number;
}

/** A batch that knows where the order goes on. */
export interface ChatBatch extends TokenBatch {
  /** Where to start to get the batch after this one. */
  readonly next: ChatPosition;
}

/** What has been read so far. */
export interface ChatCounters {
  /** Rows handed out. */
  rows: number;
  /** Rows left out because no two supervised tokens stand side by side. */
  skipped: number;
  /** Rows cut at `maxLength`. */
  truncated: number;
  tokens: number;
  supervisedTokens: number;
}

/** Options of {@link createChatBatches}. */
export interface ChatBatchesOptions {
  /** JSONL file of conversations. */
  readonly file: string;
  readonly tokenizer: ChatTokenizer;
  /** Rows of a batch. */
  readonly batchRows: number;
  /** Tokens kept of a row. Default: all. */
  readonly maxLength?: number;
  /** The order of the rows is a function of this and of the epoch. Default 0. */
  readonly seed?: number;
  /** Where to start. Default: at the beginning. */
  readonly start?: ChatPosition;
}

/** Batches without end, one epoch after the other. Stop iterating to close the file. */
export interface ChatBatches extends AsyncIterable<ChatBatch> {
  /** Records in the file. */
  readonly records: number;
  readonly counters: Readonly<ChatCounters>;
  close(): Promise<void>;
}

/** Encoded rows are kept for later epochs up to so many tokens (5 bytes each). */
const cachedTokens = 2 ** 24;

/**
 * Turns a file of conversations into batches of tokens in a seeded order. Rows are read and tokenised when they are
 * needed, so the first batch is there at once.
 *
 * @throws {Error} One line that names the file, the line and what was expected.
 */
export async function createChatBatches(options: ChatBatchesOptions): Promise<ChatBatches> {
  const { batchRows, seed = 0, start = { batch: 0, epoch: 0, row: 0 } } = options;
  if (!Number.isSafeInteger(batchRows) || batchRows < 1) {
    throw new Error(`batchRows is ${batchRows}, expected an integer ≥ 1`);
  }
  const encode = createChatEncoder(options);
  const file = await openChatFile(options.file);
  const readRow = cachedReader(file, encode);
  const counters: ChatCounters = { rows: 0, skipped: 0, truncated: 0, tokens: 0, supervisedTokens: 0 };

  async function* batches(): AsyncGenerator<ChatBatch> {
    let { batch } = start;
    let rows: EncodedChat[] = [];
    for (let { epoch } = start; ; epoch++) {
      const order = rowOrder(file.length, seed, epoch);
      let usable = 0;
      for (let row = epoch === start.epoch ? start.row : 0; row < order.length; row++) {
        const encoded = await readRow(order[row]!);
        if (!hasSupervisedPair(encoded)) {
          counters.skipped++;
          continue;
        }
        usable++;
        count(counters, encoded);
        rows.push(encoded);
        if (rows.length < batchRows) continue;
        yield { ...toTokenBatch(batch++, rows), next: { batch, epoch, row: row + 1 } };
        rows = [];
      }
      if (usable === 0 && epoch > start.epoch) {
        throw new Error(`${file.path}: none of its ${file.length} records has two supervised tokens side by side`);
      }
    }
  }

  return { records: file.length, counters, close: () => file.close(), [Symbol.asyncIterator]: batches };
}

function cachedReader(
  file: ChatFile,
  encode: ReturnType<typeof createChatEncoder>,
): (row: number) => Promise<EncodedChat> {
  const cache = new Map<number, EncodedChat>();
  let tokens = 0;
  return async (row) => {
    const cached = cache.get(row);
    if (cached !== undefined) return cached;
    const record = await file.read(row);
    let encoded: EncodedChat;
    try {
      encoded = encode(record);
    } catch (error) {
      throw new Error(`${file.path}:${file.line(row)}: ${oneLine(error)}`, { cause: error });
    }
    if (tokens < cachedTokens) {
      tokens += encoded.ids.length;
      cache.set(row, encoded);
    }
    return encoded;
  };
}

function count(counters: ChatCounters, { ids, lossMask, truncated }: EncodedChat): void {
  counters.rows++;
  counters.truncated += Number(truncated > 0);
  counters.tokens += ids.length;
  for (const supervised of lossMask) counters.supervisedTokens += supervised;
}
