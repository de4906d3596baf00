import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/testing.ts"],
  format: "esm",
  platform: "node",
  dts: { sourcemap: true },
  sourcemap: true,
  fixedExtension: false,
  // Loaded by its own URL, beside the file that starts it.
  copy: ["src/sinks/metricsWorker.mjs"],
});
