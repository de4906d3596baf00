/**
 * The tokens that a round commits: the draft as far as the target would have produced it itself, and the target's own token
 * behind that.
 *
 * @param produced The target's token behind the last one and the first `slot` draft tokens; asked for slot by slot.
 */
export function verifiedTokens(draft: ArrayLike<number>, produced: (slot: number) => number): number[] {
  const tokens = [produced(0)];
  while (tokens.length <= draft.length && tokens.at(-1) === draft[tokens.length - 1])
    tokens.push(produced(tokens.length));
  return tokens;
}
