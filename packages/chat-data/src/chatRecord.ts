/** One turn of a conversation. Other fields (`tool_calls`, `reasoning_content` …) reach the chat template untouched. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly [field: string]: unknown;
}

/** A conversation. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
}

/** One record of a data file. */
export type ChatRecord = Conversation;

/**
 * Checks one parsed record of a data file and brings it into one form.
 *
 * @throws {Error} One line: what was expected and what stands there. The caller adds file and line.
 */
export function parseChatRecord(value: unknown): ChatRecord {
  if (!isRecord(value)) throw new Error(`the record is ${oneLine(value)}, expected an object with messages`);
  const { messages } = value;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Error(`messages is ${oneLine(messages)}, expected a list of { role, content }`);
  }
  return { messages: messages.map(parseMessage) };
}

function parseMessage(message: unknown, index: number): ChatMessage {
  if (!isRecord(message)) {
    throw new Error(`messages[${index}] is ${oneLine(message)}, expected { role, content }`);
  }
  const { role, content } = message;
  if (typeof role !== "string") throw new Error(`messages[${index}].role is ${oneLine(role)}, expected a string`);
  if (typeof content !== "string") {
    throw new Error(`messages[${index}].content is ${oneLine(content)}, expected a string`);
  }
  // No tokenizer can encode half a surrogate pair: it has no UTF-8.
  if (/\p{Surrogate}/u.test(content)) {
    throw new Error(`messages[${index}].content holds a lone surrogate, expected Unicode text`);
  }
  return { ...message, role, content };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value from a file or an error, as one short line for a message. A system error is its code. */
export function oneLine(value: unknown): string {
  const line = textOf(value).replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return "code" in value ? String(value.code) : value.message;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "missing");
}
