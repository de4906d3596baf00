import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";

test.each([
  [["wasm"], "engine wasm: nothing to install; only tensorflow needs a native binding"],
  [["tensorflow", "--pip", "--wheel", "x.whl"], "give one of --pip, --python, --wheel and --libtensorflow"],
  [["tensorflow", "--libtensorflow", "."], "holds no TensorFlow library with headers"],
  [["tensorflow", "--wheel", "missing.whl"], "missing.whl: can't be read"],
])("engine install %j fails with one line", async (args, problem) => {
  const folder = temporaryFolder();
  const { code, stdout, stderr } = await dflash(["engine", "install", ...args], folder);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const last = stderr.trimEnd().split("\n").at(-1);
  expect(last).toMatch(/^dflash: /);
  expect(last).toContain(problem);
  expect(stderr).not.toContain("    at ");
});
