import type { ChatTokenizer } from "@dflash/chat-data";

/** Turns tokens into text as they come. */
export interface TextStream {
  /** The text that these tokens complete; the bytes of a character that isn't whole yet wait for the next ones. */
  push(ids: readonly number[]): string;
  /** What still waits. */
  end(): string;
}

/** Decodes from the beginning each time: what a token says can depend on those before it. */
export function textStream(tokenizer: Pick<ChatTokenizer, "decode">): TextStream {
  const all: number[] = [];
  let shown = 0;
  const upTo = (text: string, end: number): string => {
    const next = text.slice(shown, end);
    shown = Math.max(shown, end);
    return next;
  };
  return {
    push(ids) {
      all.push(...ids);
      const text = tokenizer.decode(all);
      return upTo(text, text.length - (/\uFFFD+$/.exec(text)?.[0].length ?? 0));
    },
    end() {
      const text = tokenizer.decode(all);
      return upTo(text, text.length);
    },
  };
}
