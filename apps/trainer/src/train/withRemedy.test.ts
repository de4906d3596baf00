import { expect, test } from "vitest";
import { temporaryFolder } from "../dflash.test-support.ts";
import { withRemedy } from "./withRemedy.ts";

test("a full disk is said in words, in one line", async () => {
  const error = Object.assign(new Error("ENOSPC: no space left on device, write\nmore"), { code: "ENOSPC" });
  const { message, cause } = await withRemedy(error, temporaryFolder());
  expect(message).toBe("the disk is full: ENOSPC: no space left on device, write");
  expect(cause).toBe(error);
});

test("another error keeps its own words", async () => {
  expect((await withRemedy(new Error("target worker 1 died"), temporaryFolder())).message).toBe("target worker 1 died");
});
