import type { ChatMessage, Conversation } from "./chatRecord.ts";
import type { ChatTokenizer } from "./loadTokenizer.ts";

/** Characters start ≤ c < end of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A character that no template and hardly a text uses. */
const mark = "\uE000";

/**
 * Finds the parts of a rendered conversation that the model would have written itself: each answer from where the
 * prompt for it ends, up to the end of its turn. An answer with nothing before it that it could answer has none.
 *
 * No template is known by name. The conversation is rendered again with a message cut off, replaced or marked, and where
 * the texts part tells where that message lies. So it holds for templates that trim, hide or add text too.
 *
 * @param text The conversation as the tokenizer's chat template renders it.
 * @param endOfTurn Where a turn ends whose content ends at a position.
 * @param lastTurnOnly Only the last answer.
 * @throws {Error} When the template loses an answer or its text can't be aligned with the messages.
 */
export function answerSpans(
  text: string,
  { messages, tools }: Conversation,
  tokenizer: ChatTokenizer,
  endOfTurn: (contentEnd: number) => number,
  lastTurnOnly: boolean,
): Span[] {
  const render = (turns: readonly ChatMessage[], addGenerationPrompt = false): string =>
    tokenizer.applyChatTemplate(turns, { addGenerationPrompt, ...(tools && { tools }) });

  const firstQuestion = messages.findIndex(({ role }) => role !== "system" && role !== "assistant");
  if (firstQuestion < 0) return [];
  const answers = [...messages.keys()].filter((i) => messages[i]!.role === "assistant" && i > firstQuestion);
  return (lastTurnOnly ? answers.slice(-1) : answers).map((i) => {
    const where = `messages[${i}] (assistant)`;
    const start = answerStart(text, messages, i, render);
    if (start === undefined) {
      throw new Error(
        `${where} doesn't follow the prompt that asks for it, expected data that fits the chat template and its options`,
      );
    }
    const { content } = messages[i]!;
    if (content === null) {
      const finished = render(messages.slice(0, i + 1));
      if (text.startsWith(finished)) return { start, end: finished.length };
      throw new Error(`${where} calls tools, and the chat template renders that turn otherwise when more turns follow`);
    }
    const replaced = render(messages.with(i, { ...messages[i]!, content: mark }));
    const contentEnd = text.length - commonSuffixLength(text, replaced);
    if (replaced === text || !isShown(content, text.slice(start, contentEnd))) {
      throw new Error(`the chat template loses the content of ${where} or changes it`);
    }
    return { start, end: endOfTurn(contentEnd) };
  });
}

/** Where the prompt for an answer ends in the text; undefined when the text goes on otherwise than the prompt. */
function answerStart(
  text: string,
  messages: readonly ChatMessage[],
  index: number,
  render: (messages: readonly ChatMessage[], addGenerationPrompt?: boolean) => string,
): number | undefined {
  const before = messages.slice(0, index);
  const prompt = render(before, true);
  if (text.startsWith(prompt)) return prompt.length;

  // The template shows earlier turns, or this one, otherwise than in the prompt: thinking text, as a rule. Then only
  // what follows the last message of the prompt is compared.
  const previousEnd = messageEnd(text, messages, index - 1, render);
  const closed = render(before);
  const closing = closed.slice(messageEnd(closed, before, index - 1, render));
  if (!prompt.startsWith(closed)) return undefined;
  const asking = closing + prompt.slice(closed.length);
  if (text.startsWith(asking, previousEnd)) return previousEnd + asking.length;
  // A history without the thinking block that the prompt closes: the answer follows their common part at once.
  const replaced = render(messages.with(index, { ...messages[index]!, content: mark })).slice(previousEnd);
  const header = commonPrefixLength(replaced, asking);
  const follows = header > closing.length && replaced[header] === mark;
  return follows && text.startsWith(asking.slice(0, header), previousEnd) ? previousEnd + header : undefined;
}

/** Where the content of a message ends in a rendered conversation; the text's end if it isn't shown. */
function messageEnd(
  text: string,
  messages: readonly ChatMessage[],
  index: number,
  render: (messages: readonly ChatMessage[]) => string,
): number {
  const message = messages[index]!;
  return commonPrefixLength(
    text,
    render(messages.with(index, { ...message, content: (message.content ?? "") + mark })),
  );
}

/** Whether a template shows a message: from somewhere in it (behind hidden thinking text) to its end, spaces aside. */
function isShown(content: string, shown: string): boolean {
  const [expected, actual] = [content, shown].map((text) => text.replace(anySpace, ""));
  return expected!.endsWith(actual!) || actual!.endsWith(expected!);
}

/** Spaces of JavaScript and of Python, some of which are control characters: templates strip the latter. */
const anySpace = /[\s\p{Cc}]+/gu;

function commonPrefixLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

function commonSuffixLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length++;
  return length;
}
