import { type ChatRecord, type ChatTokenizer, checkTokenIds } from "@dflash/chat-data";

/** Token ids of what a record asks, up to where the answer begins: of a conversation, its first answer. Throws one line when it asks nothing. */
export function promptOf(record: ChatRecord, tokenizer: ChatTokenizer): Int32Array {
  if ("messages" in record) {
    const first = record.messages.findIndex(({ role }) => role === "assistant");
    const messages = first < 0 ? record.messages : record.messages.slice(0, first);
    if (messages.length === 0)
      throw new Error("the conversation begins with its answer, expected a question before it");
    const text = tokenizer.applyChatTemplate(messages, { ...record, addGenerationPrompt: true });
    return Int32Array.from(tokenizer.encode(text));
  }
  if ("ids" in record) {
    checkTokenIds(record.ids, tokenizer);
    const first = record.lossMask.indexOf(1);
    if (first > 0) return record.ids.slice(0, first);
  }
  throw new Error(
    "the record has no question, expected a conversation, or token ids of which the first aren't supervised",
  );
}
