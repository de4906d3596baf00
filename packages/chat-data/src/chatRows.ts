import { hasSupervisedPair, type EncodedChat } from "./createChatEncoder.ts";
import type { ChatRecord } from "./chatRecord.ts";
import { oneLine } from "./oneLine.ts";
import type { ChatFile } from "./openChatFile.ts";
import { rowOrder } from "./rowOrder.ts";

/** A place in the order of rows. */
export interface RowPosition {
  /** Times that the file has been gone through, from 0. */
  readonly epoch: number;
  /** Rows of the epoch's order that lie behind. */
  readonly row: number;
}

/** A row that knows which record of the file it comes from. */
export interface ChatRow extends EncodedChat {
  /** From 0. */
  readonly record: number;
}

/** Options of {@link chatRows}. */
export interface ChatRowsOptions {
  readonly file: ChatFile;
  readonly encode: (record: ChatRecord) => EncodedChat;
  readonly seed: number;
  readonly epochs: number;
  readonly start: RowPosition;
  /** Called for each row that is left out: `error` is undefined when it only has too few supervised tokens. */
  readonly onSkip: (error: Error | undefined) => void;
}

/** Encoded rows are kept for later epochs up to so many tokens, 5 bytes each. */
const cachedTokens = 2 ** 24;

/**
 * Reads and tokenises the rows of a file in their seeded order, each when it is asked for.
 *
 * @yields {object} Each row in which two supervised tokens stand side by side, and the position behind it.
 * @throws {Error} When a whole epoch has no such row.
 */
export async function* chatRows(options: ChatRowsOptions): AsyncGenerator<{ row: ChatRow; to: RowPosition }> {
  const { file, seed, epochs, start, onSkip } = options;
  const encode = cachedEncoder(options);
  for (let { epoch } = start; epoch < epochs; epoch++) {
    const first = epoch === start.epoch ? start.row : 0;
    let usable = first;
    let refusal: Error | undefined;
    for (const [at, index] of rowOrder(file.length, seed, epoch).entries()) {
      if (at < first) continue;
      const row = await encode(index);
      if (row instanceof Error) {
        refusal = row;
        onSkip(row);
      } else if (!hasSupervisedPair(row)) onSkip(undefined);
      else {
        usable++;
        yield { row: { ...row, record: index }, to: { epoch, row: at + 1 } };
      }
    }
    if (usable === 0 && refusal !== undefined)
      throw new Error(`${file.path}: none of its ${file.length} records can be used (one of them: ${refusal.message})`);
    if (usable === 0) {
      throw new Error(
        `${file.path}: two supervised tokens stand side by side in none of its ${file.length} records; give answers of two tokens or more, which begin before a row is cut`,
      );
    }
  }
}

/** Encodes rows, or says why one can't be. */
function cachedEncoder({ file, encode }: ChatRowsOptions): (index: number) => Promise<EncodedChat | Error> {
  const cache = new Map<number, EncodedChat>();
  let tokens = 0;
  return async (index) => {
    const known = cache.get(index);
    if (known !== undefined) return known;
    const record = await file.read(index);
    try {
      const row = encode(record);
      tokens += row.ids.length;
      if (tokens <= cachedTokens) cache.set(index, row);
      return row;
    } catch (error) {
      return new Error(`${file.place(index)}: ${oneLine(error)}`, { cause: error });
    }
  };
}
