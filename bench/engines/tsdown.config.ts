import { defineConfig } from "tsdown";

/** The trainer, this benchmark and that of ops without our packages' folders, for a machine that has Node and no network. */
export default defineConfig({
  entry: {
    "apps/trainer/src/main": "../../apps/trainer/src/main.ts",
    "bench/engines/bench": "bench.ts",
    "bench/engines/worker": "worker.ts",
    "bench/ops/bench": "../ops/bench.ts",
  },
  outDir: "dist",
  format: "esm",
  platform: "node",
  noExternal: /^(?!@tensorflow\/|webgpu$|node:)/,
  external: [/^@tensorflow\//, "webgpu"],
  fixedExtension: false,
  dts: false,
  clean: true,
  outputOptions: { chunkFileNames: "apps/trainer/src/[name]-[hash].js" },
});
