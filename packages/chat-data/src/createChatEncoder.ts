import type { ChatRecord } from "./chatRecord.ts";
import type { ChatTokenizer } from "./loadTokenizer.ts";
import { findAssistantHeader, supervisedSpans } from "./supervisedSpans.ts";
import type { TokenRow } from "./tokenBatch.ts";

/** Options of {@link createChatEncoder}. */
export interface ChatEncoderOptions {
  readonly tokenizer: ChatTokenizer;
  /** Tokens kept of a record; the rest is cut off at the end. Default: all. */
  readonly maxLength?: number;
}

/** Tokens of one record and what was done to them. */
export interface EncodedChat extends TokenRow {
  /** Tokens that `maxLength` cut off. */
  readonly truncated: number;
}

/** Makes the function that turns records into token rows, ids and loss mask. It throws when a record can't be aligned. */
export function createChatEncoder(options: ChatEncoderOptions): (record: ChatRecord) => EncodedChat {
  const { tokenizer, maxLength = Infinity } = options;
  const header = findAssistantHeader(tokenizer);
  const specialIds = new Set(tokenizer.specialTokens.values());
  const specialPattern = alternation(tokenizer.specialTokens.keys());

  return (record) => {
    const text = tokenizer.applyChatTemplate(record.messages);
    const ids = tokenizer.encode(text);
    const specials = [...text.matchAll(specialPattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
    }));
    const specialAt = ids.flatMap((id, t) => (specialIds.has(id) ? [t] : []));
    if (specials.length !== specialAt.length) {
      throw new Error(`the text holds ${specials.length} special tokens but the tokenizer found ${specialAt.length}`);
    }

    /** The token that holds a character, or the first one behind it. */
    const tokenAt = (position: number): { token: number; inside: boolean } => {
      // Special tokens split the text before anything else, so only what stands behind the last one matters.
      const last = specials.findLastIndex(({ start }) => start < position);
      const [textStart, tokenStart] = last < 0 ? [0, 0] : [specials[last]!.start, specialAt[last]!];
      const before = tokenizer.encode(text.slice(textStart, position));
      let token = 0;
      while (token < before.length && before[token] === ids[tokenStart + token]) token++;
      return { token: tokenStart + token, inside: token < before.length };
    };

    const endOfTurn = (contentEnd: number): number => {
      const end = specials.find(({ start }) => start >= contentEnd)?.end ?? contentEnd;
      return end > contentEnd && text[end] === "\n" ? end + 1 : end;
    };

    const lossMask = new Uint8Array(ids.length);
    for (const { start, end } of supervisedSpans(text, record.messages, tokenizer, header, endOfTurn)) {
      const last = tokenAt(end);
      lossMask.fill(1, tokenAt(start).token, last.token + Number(last.inside));
    }
    const length = Math.min(ids.length, maxLength);
    return {
      ids: Int32Array.from(ids.slice(0, length)),
      lossMask: lossMask.subarray(0, length),
      truncated: ids.length - length,
    };
  };
}

/** Whether a row can hold an anchor: a supervised token with another one right behind it. */
export function hasSupervisedPair({ lossMask }: TokenRow): boolean {
  return lossMask.some((supervised, t) => supervised === 1 && lossMask[t + 1] === 1);
}

/** A pattern that finds the longest of some texts. */
function alternation(texts: Iterable<string>): RegExp {
  const longestFirst = [...texts].toSorted((a, b) => b.length - a.length);
  const escaped = longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.length > 0 ? escaped.join("|") : "(?!)", "g");
}
