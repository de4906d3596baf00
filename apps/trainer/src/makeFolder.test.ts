import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./dflash.test-support.ts";
import { makeFolder } from "./makeFolder.ts";

test("a folder is made with those above it, or the flag is named that can't have it", async () => {
  const folder = temporaryFolder();
  await makeFolder("--out", join(folder, "a/b"));
  expect(existsSync(join(folder, "a/b"))).toBe(true);
  const file = join(folder, "file");
  writeFileSync(file, "");
  for (const path of [file, join(file, "below/that")])
    await expect(makeFolder("--out", path)).rejects.toThrow(
      `--out ${path}: a file is in the way; choose another place`,
    );
});

test.skipIf(process.getuid?.() === 0)(
  "a folder that one may not write to is said (skipped for root, who may)",
  async () => {
    const closed = join(temporaryFolder(), "closed");
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    await expect(makeFolder("--out", join(closed, "run"))).rejects.toThrow("you may not write there");
  },
);
