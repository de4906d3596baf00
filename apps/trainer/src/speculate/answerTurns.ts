import type { ChatMessage, ChatRecord, ChatTokenizer } from "@dflash/chat-data";
import { generate, type GenerateOptions } from "@dflash/speculate";

export interface AnswerTurnsOptions extends Omit<GenerateOptions, "prompts" | "promptNumbers" | "batch"> {
  readonly tokenizer: ChatTokenizer;
  /** Tokens that a conversation may have, with the longest answer. */
  readonly maxPositions: number;
}

/** A record of a data file and its number there. */
export interface NumberedRecord {
  readonly row: number;
  readonly record: ChatRecord;
}

/** A conversation with new answers. */
export interface AnsweredRecord {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[];
  /** `length` when an answer was cut; the turns behind it are left out then. */
  readonly finish: "stop" | "length";
}

/** What is done and left of one conversation. */
interface Progress {
  readonly row: number;
  readonly tools: readonly unknown[] | undefined;
  readonly turns: ChatMessage[];
  readonly messages: ChatMessage[];
  finish: "stop" | "length" | "skipped";
}

/**
 * Answers all conversations at the same time, turn by turn, each turn after the new answers before it. Gives null for a record
 * without a question, and for a conversation that is too long; nothing at all when the signal came first.
 */
export async function answerTurns(
  records: readonly NumberedRecord[],
  options: AnswerTurnsOptions,
): Promise<(AnsweredRecord | null)[] | null> {
  const { tokenizer, maxPositions, maxNewTokens, signal } = options;
  const all = records.map(begin);
  for (;;) {
    const asked: { conversation: Progress; prompt: Int32Array }[] = [];
    for (const conversation of all) {
      if (conversation.finish !== "stop" || !nextQuestion(conversation)) continue;
      const { messages, tools } = conversation;
      const text = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true, ...(tools && { tools }) });
      const prompt = Int32Array.from(tokenizer.encode(text));
      if (prompt.length + maxNewTokens > maxPositions) conversation.finish = "skipped";
      else asked.push({ conversation, prompt });
    }
    if (asked.length === 0) break;
    const answers = await generate({
      ...options,
      prompts: asked.map(({ prompt }) => prompt),
      promptNumbers: asked.map(({ conversation }) => conversation.row),
      batch: asked.length,
    });
    if (signal?.aborted) return null;
    for (const [i, { conversation }] of asked.entries()) {
      const { ids, finish } = answers[i]!;
      const content = tokenizer.decode(finish === "stop" ? ids.subarray(0, -1) : ids);
      conversation.messages.push({ role: "assistant", content });
      if (finish !== "stop") conversation.finish = "length";
    }
  }
  return all.map(({ messages, tools, finish }) =>
    finish === "skipped" ? null : { messages, ...(tools && { tools }), finish },
  );
}

/** A record that begins with its answer, or is no conversation, asks nothing. */
function begin({ row, record }: NumberedRecord): Progress {
  const isConversation = "messages" in record && record.messages[0]?.role !== "assistant";
  const turns = isConversation ? [...record.messages] : [];
  const tools = isConversation ? record.tools : undefined;
  return { row, tools, turns, messages: [], finish: isConversation ? "stop" : "skipped" };
}

/** Takes over the turns up to the next answer, old answers aside; false when none is left. */
function nextQuestion({ turns, messages }: Progress): boolean {
  const before = messages.length;
  while (turns.length > 0 && turns[0]!.role !== "assistant") messages.push(turns.shift()!);
  while (turns[0]?.role === "assistant") turns.shift();
  return messages.length > before;
}
