import { oneLine } from "./oneLine.ts";

/** One turn of a conversation. Other fields (`tool_calls`, `reasoning_content` …) reach the chat template untouched. */
export interface ChatMessage {
  /** Who speaks: `user`, `assistant`, `system`, `tool` … */
  readonly role: string;
  /** Null only where an assistant calls tools and says nothing. */
  readonly content: string | null;
  readonly [field: string]: unknown;
}

/** A conversation, to be rendered by the chat template. Answers are supervised. */
export interface Conversation {
  /** The turns in their order. */
  readonly messages: readonly ChatMessage[];
  /** Tool descriptions for the template. */
  readonly tools?: readonly unknown[];
}

/** A text: plain, supervised as a whole, or with the special tokens of a chat template, supervised in the answers. */
export interface TextRecord {
  /** The text. */
  readonly text: string;
}

/** A text that was tokenised elsewhere. */
export interface TokenRecord {
  /** Token ids. */
  readonly ids: Int32Array;
  /** 1 where the token is supervised, as long as `ids`. */
  readonly lossMask: Uint8Array;
}

/** One record of a data file. */
export type ChatRecord = Conversation | TextRecord | TokenRecord;

/** ShareGPT's names for who speaks. */
const shareGptRoles: ReadonlyMap<unknown, string> = new Map([
  ["human", "user"],
  ["gpt", "assistant"],
  ["chatgpt", "assistant"],
  ["function_call", "assistant"],
  ["observation", "tool"],
  ...["user", "assistant", "system", "tool", "developer", "function"].map((role): [string, string] => [role, role]),
]);

/**
 * Checks one parsed record of a data file and brings it into one form. Known are OpenAI's `messages` (with `tools`),
 * ShareGPT's `conversations`, `text`, and `input_ids` (with `loss_mask`; without it every token is supervised).
 *
 * @throws {Error} One line: what stands there and what was expected. The caller adds file and line.
 */
export function parseChatRecord(value: unknown): ChatRecord {
  if (isRecord(value)) {
    if (value.messages !== undefined) return parseConversation("messages", value.messages, value.tools);
    if (value.conversations !== undefined) return parseConversation("conversations", value.conversations, value.tools);
    if (value.text !== undefined) return { text: parseText("text", value.text) };
    if (value.input_ids !== undefined) return parseTokens(value.input_ids, value.loss_mask);
  }
  throw new Error(
    `the record is ${oneLine(value)}, expected an object with messages, conversations, text or input_ids`,
  );
}

function parseConversation(field: string, turns: unknown, tools: unknown): Conversation {
  if (!Array.isArray(turns) || turns.length === 0) {
    throw new Error(`${field} is ${oneLine(turns)}, expected a list of { role, content }`);
  }
  const messages = turns.map((turn, i) => parseMessage(`${field}[${i}]`, turn));
  if (tools === undefined || tools === null) return { messages };
  if (!Array.isArray(tools)) throw new Error(`tools is ${oneLine(tools)}, expected a list`);
  return { messages, tools };
}

function parseMessage(where: string, turn: unknown): ChatMessage {
  if (!isRecord(turn)) throw new Error(`${where} is ${oneLine(turn)}, expected { role, content }`);
  const { from, value, role = shareGptRoles.get(from), content = value, ...more } = turn;
  if (typeof role !== "string") {
    const speaker = turn.role === undefined ? turn.from : turn.role;
    throw new Error(`${where}: the role is ${oneLine(speaker)}, expected user, assistant, system or tool`);
  }
  if ((content === null || content === undefined) && Array.isArray(more.tool_calls)) {
    return { ...more, role, content: null };
  }
  return { ...more, role, content: parseText(`${where}.content`, joinParts(content)) };
}

/** The text of OpenAI's content parts; anything else as it is. */
function joinParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts: unknown[] = content.map((part) => (isRecord(part) && part.type === "text" ? part.text : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("") : content;
}

function parseText(where: string, text: unknown): string {
  if (typeof text !== "string") throw new Error(`${where} is ${oneLine(text)}, expected a string`);
  // Half a surrogate pair has no UTF-8, so no tokenizer can encode it.
  if (/\p{Surrogate}/u.test(text)) throw new Error(`${where} holds a lone surrogate, expected Unicode text`);
  return text;
}

function parseTokens(inputIds: unknown, lossMask: unknown): TokenRecord {
  if (!isIntegers(inputIds, 2 ** 31)) {
    throw new Error(`input_ids is ${oneLine(inputIds)}, expected a list of token ids`);
  }
  if (lossMask === undefined)
    return { ids: Int32Array.from(inputIds), lossMask: new Uint8Array(inputIds.length).fill(1) };
  if (!isIntegers(lossMask, 2)) throw new Error(`loss_mask is ${oneLine(lossMask)}, expected a list of 0 and 1`);
  if (lossMask.length !== inputIds.length) {
    throw new Error(`loss_mask has ${lossMask.length} entries, expected ${inputIds.length}, one for each of input_ids`);
  }
  return { ids: Int32Array.from(inputIds), lossMask: Uint8Array.from(lossMask) };
}

function isIntegers(value: unknown, bound: number): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isInteger(n) && n >= 0 && n < bound);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
