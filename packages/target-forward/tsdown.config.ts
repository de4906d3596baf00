import { defineConfig } from "tsdown";

export default defineConfig({
  // The second is what target workers start with.
  entry: ["src/index.ts", "src/workers/runTargetWorker.ts"],
  format: "esm",
  platform: "node",
  dts: { sourcemap: true },
  sourcemap: true,
  fixedExtension: false,
});
