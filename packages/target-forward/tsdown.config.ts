import { defineConfig } from "tsdown";

export default defineConfig({
  // The second is what target workers start with.
  entry: { index: "src/index.ts", runTargetWorker: "src/workers/runTargetWorker.ts" },
  format: "esm",
  platform: "node",
  dts: { sourcemap: true },
  sourcemap: true,
  fixedExtension: false,
});
