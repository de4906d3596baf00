import { defineConfig } from "tsdown";

/** One file with nothing to install, for a machine that has Node and PyTorch only. */
export default defineConfig({
  entry: ["bench.ts"],
  format: "esm",
  platform: "node",
  noExternal: [/^@dflash\//],
  fixedExtension: false,
  copy: ["pytorch.py"],
});
