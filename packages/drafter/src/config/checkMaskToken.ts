/** The tokens that a target's text ends with and is padded with, as far as there are any. */
export interface TextTokens {
  /** The end of an answer. */
  readonly eosTokenId?: number | undefined;
  /** What rows are filled up with. */
  readonly padTokenId?: number | undefined;
}

/**
 * Refuses a mask token that has a meaning in the text: a drafter can't tell a slot to fill from the end of an answer, and would
 * learn from slots that look like padding.
 *
 * @param spelling What the error names the mask token by, with its place.
 * @throws {Error} One line with the token and the way out.
 */
export function checkMaskToken(spelling: string, maskTokenId: number, tokens: TextTokens): void {
  for (const [name, id] of [
    ["end", tokens.eosTokenId],
    ["padding", tokens.padTokenId],
  ] as const) {
    if (id === maskTokenId)
      throw new Error(
        `${spelling} is ${maskTokenId}, the ${name} token of the text, expected one of its own; take a row of the embedding that no token uses`,
      );
  }
}
