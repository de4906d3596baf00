import * as fc from "fast-check";
import { expect, it } from "vitest";
import { findDuplicateKey } from "./findDuplicateKey.ts";

it.each([
  ['{"a":1,"a":2}', "a"],
  ['{"a":{"b":1,"c":[{"d":0}],"b":2}}', "b"],
  ['{"a":1,"\\u0061":2}', "a"],
  ['{"":1,"":2}', ""],
])("finds the key that stands twice in %s", (json, key) => {
  expect(findDuplicateKey(json)).toBe(key);
});

it.each(['{"a":{"a":1},"b":{"a":2}}', '{"a":"a\\":","b":":"}', '[{"a":1},{"a":2}]', '{"a\\\\":1,"a":"\\\\"}'])(
  "finds none in %s",
  (json) => {
    expect(findDuplicateKey(json)).toBeUndefined();
  },
);

it("finds none in whatever JSON.stringify makes", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(findDuplicateKey(json)).toBeUndefined();
    }),
  );
});
