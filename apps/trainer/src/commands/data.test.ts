import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, startDflash, temporaryFolder } from "../dflash.test-support.ts";

const chat = (answer: string): string =>
  JSON.stringify({
    messages: [
      { role: "user", content: "1+1?" },
      { role: "assistant", content: answer },
    ],
  });

test("data inspect counts records and shows what is supervised", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "chats.jsonl"), `${chat("It is two.")}\n{"messages": [\n${chat("Two.")}\n`);
  const { code, stdout } = await dflash(["data", "inspect", "chats.jsonl", "--examples", "1"], folder);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^records +3$/m);
  expect(stdout).toMatch(/^rows +2 to train on/m);
  expect(stdout).toMatch(/^left out +1: .*chats\.jsonl:2/m);
  expect(stdout).toContain("<|im_start|>assistant\n⟦It is two.<|im_end|>\n⟧");
  expect(stdout).not.toContain("\u001b");
});

test("a file that isn't there, or a flag that isn't known, is one line and exit code 1", async () => {
  const { code, stderr } = await dflash(["data", "inspect", "nowhere.jsonl"], temporaryFolder());
  expect(code).toBe(1);
  expect(stderr).toMatch(/^dflash: .*nowhere\.jsonl.*\n$/);
  const unknown = await dflash(["data", "inspect", "--exampels", "1"], temporaryFolder());
  expect(unknown.stderr).toBe("dflash: unknown option '--exampels' (Did you mean --examples?)\n");
});

test("data inspect ends quietly when nobody reads it", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "chats.jsonl"), `${chat("It is two.")}\n`);
  const child = startDflash(["data", "inspect", "chats.jsonl"], folder);
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const [code] = await once(child, "close");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
