import type { ChatTokenizer } from "@dflash/chat-data";
import { checkMaskToken } from "@dflash/drafter";
import type { TrainConfig } from "./trainConfig.ts";

/** The token that stands in masked slots. Throws one line when there is none, or one that ends or pads the text. */
export function maskTokenOf(
  { maskTokenId, init, target }: Pick<TrainConfig, "maskTokenId" | "init" | "target">,
  tokenizer: Pick<ChatTokenizer, "maskTokenId" | "eosTokenId" | "padTokenId">,
): number {
  const id = maskTokenId ?? tokenizer.maskTokenId;
  if (id === undefined)
    throw new Error(`${target}: the tokenizer has no mask token; give an unused one with --mask-token-id`);
  const given = init === null ? "--mask-token-id" : `--init ${init}: its mask token`;
  checkMaskToken(maskTokenId === null ? `${target}: the tokenizer's mask token` : given, id, tokenizer);
  return id;
}
