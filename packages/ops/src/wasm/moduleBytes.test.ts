import { expect, test } from "vitest";
// @ts-expect-error: a script without types
import { hashSources } from "../../assembly/hashSources.mjs";
import { sourceHash } from "./moduleBytes.ts";

test("the module was compiled from the sources as they are; else run assembly/build.mjs", () => {
  expect(sourceHash).toBe(hashSources(`${import.meta.dirname}/../../assembly`));
});
