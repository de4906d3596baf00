import type { ChatMessage } from "./chatRecord.ts";
import type { ChatTokenizer } from "./loadTokenizer.ts";

/** Characters start ≤ c < end of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What a chat template writes before an answer. */
export interface AssistantHeader {
  /** What every assistant turn begins with, wherever it stands. */
  readonly common: string;
  /** What the prompt ends with when the model is asked to answer: `common` and perhaps a thinking block. */
  readonly generationPrompt: string;
}

/** A character that no template and hardly a text uses. */
const mark = "\uE000";

/**
 * Finds what a chat template writes before an answer, from how it renders a conversation made up for that.
 *
 * @throws {Error} When the template's prompt and its finished turns have nothing in common.
 */
export function findAssistantHeader(tokenizer: ChatTokenizer): AssistantHeader {
  const question: ChatMessage = { role: "user", content: mark };
  const prompt = tokenizer.applyChatTemplate([question]);
  const asking = tokenizer.applyChatTemplate([question], { addGenerationPrompt: true });
  const answered = tokenizer.applyChatTemplate([question, { role: "assistant", content: mark }, question]);
  if (!asking.startsWith(prompt)) {
    throw new Error(
      "the chat template changes earlier turns when it asks for an answer, so no answer can be found in it",
    );
  }
  const generationPrompt = asking.slice(prompt.length);
  const afterQuestion = prompt.slice(prompt.lastIndexOf(mark) + 1);
  const [, between = ""] = answered.split(mark);
  if (generationPrompt === "") return { common: afterQuestion, generationPrompt: afterQuestion };
  const header = between.slice(commonPrefixLength(between, afterQuestion));
  const common = header.slice(0, commonPrefixLength(header, generationPrompt));
  if (common === "") {
    throw new Error(
      `the chat template opens answers with ${JSON.stringify(header)} but asks for them with ${JSON.stringify(generationPrompt)}`,
    );
  }
  return { common, generationPrompt };
}

/**
 * The parts of a rendered conversation that the model would have written itself: each assistant turn from where its
 * generation prompt ends, up to its first special token and the newline behind that.
 *
 * Where a message ends in the text is found by rendering the conversation once more with a mark behind that message,
 * so it holds for templates that trim, hide or add text too.
 *
 * @param endOfTurn Where a turn ends whose content ends at a position.
 * @throws {Error} When the template loses an answer, or shows it where no assistant turn begins.
 */
export function supervisedSpans(
  text: string,
  messages: readonly ChatMessage[],
  tokenizer: ChatTokenizer,
  header: AssistantHeader,
  endOfTurn: (contentEnd: number) => number,
): Span[] {
  const spans: Span[] = [];
  let previousEnd = 0;
  for (const [i, message] of messages.entries()) {
    const isAnswer = message.role === "assistant";
    if (!isAnswer && messages[i + 1]?.role !== "assistant") continue;
    const contentEnd = messageEnd(text, messages, i, tokenizer);
    if (isAnswer) {
      if (contentEnd === undefined)
        throw new Error(`the chat template loses the content of messages[${i}] (assistant)`);
      const start = turnStart(text, previousEnd, header);
      if (start === undefined || start > contentEnd) {
        const opening = JSON.stringify(header.common);
        throw new Error(
          `messages[${i}] (assistant) can't be found in the chat template's text: no ${opening} before it`,
        );
      }
      spans.push({ start, end: endOfTurn(contentEnd) });
    }
    previousEnd = contentEnd ?? previousEnd;
  }
  return spans;
}

/** Where the content of a message ends in the text; undefined when the template doesn't show it. */
function messageEnd(
  text: string,
  messages: readonly ChatMessage[],
  index: number,
  tokenizer: ChatTokenizer,
): number | undefined {
  const marked = messages.map((message, i) =>
    i === index ? { ...message, content: message.content + mark } : message,
  );
  const markedText = tokenizer.applyChatTemplate(marked);
  return markedText === text ? undefined : commonPrefixLength(text, markedText);
}

/** Where an answer starts in the first turn that opens at or after a position. */
function turnStart(text: string, from: number, { common, generationPrompt }: AssistantHeader): number | undefined {
  const turn = text.indexOf(common, from);
  if (turn < 0) return undefined;
  return turn + (text.startsWith(generationPrompt, turn) ? generationPrompt.length : common.length);
}

export function commonPrefixLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
