import { type ChatTokenizer, openChatFile } from "@dflash/chat-data";
import { promptOf } from "./promptOf.ts";

export interface ReadPromptsOptions {
  readonly file: string;
  readonly tokenizer: ChatTokenizer;
  /** Records whose prompts are taken, from the first on. */
  readonly count: number;
  /** Tokens that a prompt may have; longer ones are left out. */
  readonly mostTokens: number;
}

/** The prompts of a data file's first records, and how many were too long. */
export interface Prompts {
  readonly prompts: Int32Array[];
  readonly skipped: number;
}

/** @throws {Error} One line that names the record, or the file where no prompt is short enough. */
export async function readPrompts({ file, tokenizer, count, mostTokens }: ReadPromptsOptions): Promise<Prompts> {
  const chats = await openChatFile(file);
  try {
    const all: Int32Array[] = [];
    for (let row = 0; row < Math.min(count, chats.length); row++) {
      const record = await chats.read(row);
      try {
        all.push(promptOf(record, tokenizer));
      } catch (error) {
        throw new Error(`${chats.place(row)}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
    const prompts = all.filter(({ length }) => length <= mostTokens);
    if (prompts.length === 0)
      throw new Error(
        `${file}: no prompt has ${mostTokens} tokens or fewer, which is what the positions leave beside the longest answer; give shorter prompts or allow fewer new tokens`,
      );
    return { prompts, skipped: all.length - prompts.length };
  } finally {
    await chats.close();
  }
}
