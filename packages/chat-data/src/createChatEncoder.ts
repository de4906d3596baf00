import { answerSpans, type Span } from "./answerSpans.ts";
import type { ChatRecord } from "./chatRecord.ts";
import { checkTokenIds } from "./checkTokenIds.ts";
import type { ChatTokenizer } from "./loadTokenizer.ts";
import type { TokenRow } from "./tokenBatch.ts";

/** Options of {@link createChatEncoder}. */
export interface ChatEncoderOptions {
  /** The target model's tokenizer. */
  readonly tokenizer: ChatTokenizer;
  /** Tokens kept of a record; the rest is cut off at its end. Default: all. */
  readonly maxLength?: number;
  /** Supervise the last answer of a conversation only. Default false. */
  readonly lastTurnOnly?: boolean;
}

/** Tokens of one record and what was done to them. */
export interface EncodedChat extends TokenRow {
  /** Tokens that `maxLength` cut off. */
  readonly truncated: number;
}

/**
 * Makes the function that turns records into token rows. The loss mask covers what the model would have written itself:
 * each answer with the token that ends its turn and the newline behind that. A token that an answer shares with the text
 * around it is supervised. The function throws when a record can't be aligned with the chat template's text, or holds a
 * token that the target doesn't know.
 */
export function createChatEncoder(options: ChatEncoderOptions): (record: ChatRecord) => EncodedChat {
  const { tokenizer, maxLength = Infinity, lastTurnOnly = false } = options;
  const specialPattern = alternation(tokenizer.specialTokens.keys());
  let turnEnd: string | undefined;

  return (record) => {
    if ("ids" in record) {
      checkTokenIds(record.ids, tokenizer);
      return truncate(record.ids, record.lossMask, maxLength);
    }
    const text = "text" in record ? record.text : tokenizer.applyChatTemplate(record.messages, record);
    const specials = [...text.matchAll(specialPattern)].map(({ index, 0: token }) => ({
      start: index,
      end: index + token.length,
    }));
    const endOfTurn = (contentEnd: number): number => {
      turnEnd ??= newlineBehindTurn(tokenizer);
      const end = specials.find(({ start }) => start >= contentEnd)?.end ?? contentEnd;
      return end > contentEnd && text.startsWith(turnEnd, end) ? end + turnEnd.length : end;
    };
    const spans =
      "text" in record
        ? textSpans(text, tokenizer, specials.length > 0, endOfTurn)
        : answerSpans(text, record, tokenizer, endOfTurn, lastTurnOnly);

    const ids = tokenizer.encode(text);
    return truncate(Int32Array.from(ids), maskTokens(text, spans, ids, specials, tokenizer), maxLength);
  };
}

/** Whether a row can hold an anchor: a supervised token with another one right behind it. */
export function hasSupervisedPair({ lossMask }: TokenRow): boolean {
  return lossMask.some((supervised, t) => supervised === 1 && lossMask[t + 1] === 1);
}

/** The newline that a chat template writes behind the last turn: others belong to the next one. */
function newlineBehindTurn(tokenizer: ChatTokenizer): string {
  const turns = ["user", "assistant"].map((role) => ({ role, content: "x" }));
  return tokenizer.applyChatTemplate(turns).endsWith("\n") ? "\n" : "";
}

function truncate(ids: Int32Array, lossMask: Uint8Array, maxLength: number): EncodedChat {
  const length = Math.min(ids.length, maxLength);
  return { ids: ids.slice(0, length), lossMask: lossMask.slice(0, length), truncated: ids.length - length };
}

/** The answers in a text that a chat template has made already; all of a text without special tokens. */
function textSpans(
  text: string,
  tokenizer: ChatTokenizer,
  isTemplated: boolean,
  endOfTurn: (contentEnd: number) => number,
): Span[] {
  if (!isTemplated) return [{ start: 0, end: text.length }];
  const question = [{ role: "user", content: "?" }];
  const closed = tokenizer.applyChatTemplate(question);
  const header = tokenizer.applyChatTemplate(question, { addGenerationPrompt: true }).slice(closed.length);
  if (header === "")
    throw new Error("the chat template opens no answers, so none can be found in a text; expected messages");
  const spans: Span[] = [];
  for (let at = text.indexOf(header); at >= 0; at = text.indexOf(header, spans.at(-1)!.end)) {
    const start = at + header.length;
    spans.push({ start, end: endOfTurn(start) });
  }
  return spans;
}

/** Marks the tokens that lie in spans of characters, wholly or in part. */
function maskTokens(
  text: string,
  spans: readonly Span[],
  ids: readonly number[],
  specials: readonly Span[],
  tokenizer: ChatTokenizer,
): Uint8Array {
  const specialIds = new Set(tokenizer.specialTokens.values());
  const specialTokens = [...ids.keys()].filter((t) => specialIds.has(ids[t]!));
  if (specials.length !== specialTokens.length) {
    throw new Error(
      `the text holds ${specials.length} special tokens, but the tokenizer finds ${specialTokens.length}`,
    );
  }

  /** The first token that ends behind a character position, and whether it starts before it. */
  const tokenAt = (position: number): { token: number; straddles: boolean } => {
    // Special tokens split a text before anything else does, so only what stands behind the last one matters.
    const last = specials.findLastIndex(({ start }) => start < position);
    const [textStart, tokenStart] = last < 0 ? [0, 0] : [specials[last]!.start, specialTokens[last]!];
    const before = tokenizer.encode(text.slice(textStart, position));
    const same = before.findIndex((id, t) => id !== ids[tokenStart + t]);
    return same < 0
      ? { token: tokenStart + before.length, straddles: false }
      : { token: tokenStart + same, straddles: true };
  };

  const lossMask = new Uint8Array(ids.length);
  for (const { start, end } of spans) {
    const last = tokenAt(end);
    lossMask.fill(1, tokenAt(start).token, last.token + Number(last.straddles));
  }
  return lossMask;
}

/** A pattern that finds the longest of some texts. */
function alternation(texts: Iterable<string>): RegExp {
  const longestFirst = [...texts].toSorted((a, b) => b.length - a.length);
  const escaped = longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.length > 0 ? escaped.join("|") : "(?!)", "g");
}
