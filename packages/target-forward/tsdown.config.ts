import { defineConfig } from "tsdown";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    // What target workers start with, and the thread beside one in a process.
    runTargetWorker: "src/workers/runTargetWorker.ts",
    relayTargetProcess: "src/workers/relayTargetProcess.ts",
  },
  format: "esm",
  platform: "node",
  dts: { sourcemap: true },
  sourcemap: true,
  fixedExtension: false,
});
