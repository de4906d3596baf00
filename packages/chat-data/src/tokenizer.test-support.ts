import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadTokenizer, type ChatTokenizer, type LoadTokenizerOptions } from "./loadTokenizer.ts";

/** Folder of the committed tiny target. */
export const tinyTarget: string = join(import.meta.dirname, "../../../data/tiny-target");

/** The tiny target's tokenizer with another chat template. */
export async function tokenizerWithTemplate(template: string, options?: LoadTokenizerOptions): Promise<ChatTokenizer> {
  const folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
  try {
    await copyFile(join(tinyTarget, "tokenizer.json"), join(folder, "tokenizer.json"));
    const config = { eos_token: "<|im_end|>", pad_token: "<|endoftext|>", chat_template: template };
    await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(config));
    return await loadTokenizer(folder, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}
