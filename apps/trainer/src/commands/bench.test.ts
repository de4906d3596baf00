import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";

test("bench names the benchmarks that there are", async () => {
  const { code, stderr } = await dflash(["bench", "speed"], temporaryFolder());
  expect(code).toBe(1);
  expect(stderr).toMatch(/^dflash: bench speed: no such benchmark; there are .*block-mask.*timer\n$/);
});
