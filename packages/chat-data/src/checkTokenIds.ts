import type { ChatTokenizer } from "./loadTokenizer.ts";

/**
 * Checks that the target knows the token ids of a record that was tokenised elsewhere.
 *
 * @throws {Error} One line: which token has which id, and what was expected. The caller adds file and line.
 */
export function checkTokenIds(ids: Int32Array, { vocabSize = Infinity }: Pick<ChatTokenizer, "vocabSize">): void {
  const token = ids.findIndex((id) => id >= vocabSize);
  if (token < 0) return;
  throw new Error(
    `token ${token} has id ${ids[token]}, the target's vocabulary has ${vocabSize}; tokenise the data with the target's own tokenizer`,
  );
}
