import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { bundle } from "./bundle.test-support.ts";

it("costs a page at most 6.9 kB: createTimer with eventemitter3, minified and gzipped", async () => {
  expect(gzipSync(await bundle("createTimer.ts"), { level: 9 }).length).toBeLessThanOrEqual(6_900);
});
