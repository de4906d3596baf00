import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/hub.ts", "src/causalLMTarget.ts"],
  format: "esm",
  platform: "node",
  dts: { sourcemap: true },
  sourcemap: true,
  fixedExtension: false,
});
