import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { bundle } from "./bundle.test-support.ts";

it("costs a page at most 5 kB: the first entry with eventemitter3, minified and gzipped", async () => {
  expect(gzipSync(await bundle("index.ts"), { level: 9 }).length).toBeLessThanOrEqual(5_000);
});
