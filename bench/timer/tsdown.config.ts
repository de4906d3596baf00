import { defineConfig } from "tsdown";

// The timer is measured as it is published: in one module, in which constants are folded.
export default defineConfig({
  entry: ["bench.ts"],
  format: "esm",
  platform: "node",
  noExternal: [/^@dflash\//],
  external: [/^@opentelemetry\//, "prom-client"],
  dts: false,
  fixedExtension: false,
});
