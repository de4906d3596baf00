import { type ChatTokenizer, openChatFile } from "@dflash/chat-data";
import { promptOf } from "./promptOf.ts";

export interface ReadPromptsOptions {
  readonly file: string;
  readonly tokenizer: ChatTokenizer;
  /** Most prompts to take, from the first record on. */
  readonly count: number;
}

/** The prompts of a data file's first records. @throws {Error} One line that names the record. */
export async function readPrompts({ file, tokenizer, count }: ReadPromptsOptions): Promise<Int32Array[]> {
  const chats = await openChatFile(file);
  try {
    const prompts: Int32Array[] = [];
    for (let row = 0; row < Math.min(count, chats.length); row++) {
      const record = await chats.read(row);
      try {
        prompts.push(promptOf(record, tokenizer));
      } catch (error) {
        throw new Error(`${chats.place(row)}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
    return prompts;
  } finally {
    await chats.close();
  }
}
