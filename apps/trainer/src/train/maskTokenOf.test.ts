import { expect, test } from "vitest";
import { maskTokenOf } from "./maskTokenOf.ts";

const tokenizer = { maskTokenId: 3, eosTokenId: 2, padTokenId: 0 };
const config = { maskTokenId: null, init: null, target: "model" };

test("the flag's token, else the tokenizer's", () => {
  expect(maskTokenOf({ ...config, maskTokenId: 7 }, tokenizer)).toBe(7);
  expect(maskTokenOf(config, tokenizer)).toBe(3);
});

test.each([
  [
    { ...config, maskTokenId: 2 },
    tokenizer,
    "--mask-token-id is 2, the end token of the text, expected one of its own",
  ],
  [{ ...config, maskTokenId: 0 }, tokenizer, "--mask-token-id is 0, the padding token of the text, expected one"],
  [
    config,
    { ...tokenizer, padTokenId: 3 },
    "model: the tokenizer's mask token is 3, the padding token of the text, expected one of its own; take a row of the",
  ],
  [{ ...config, maskTokenId: 2, init: "old" }, tokenizer, "--init old: its mask token is 2, the end token of the text"],
  [
    config,
    { ...tokenizer, maskTokenId: undefined },
    "model: the tokenizer has no mask token; give an unused one with --mask-token-id",
  ],
])("no token, or one that ends or pads the text, is refused by name, %#", (given, tokens, message) => {
  expect(() => maskTokenOf(given, tokens)).toThrow(message);
});
