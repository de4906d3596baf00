import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { KernelBackend } from "@tensorflow/tfjs-core";
import { findOptionalPackage } from "../findOptionalPackage.ts";
import type { AdapterInfo } from "./openAdapter.ts";

/** What we use of npm's `webgpu`. */
interface Dawn {
  readonly create: (options: string[]) => GPU;
  /** Classes and flags by the names that they have in a browser. */
  readonly globals: object;
}

/** What we use of `@tensorflow/tfjs-backend-webgpu`, which registers its kernels when it is loaded. */
interface TfjsWebgpu {
  readonly WebGPUBackend: new (device: GPUDevice, info: AdapterInfo) => KernelBackend;
}

const packages = { dawn: "webgpu", backend: "@tensorflow/tfjs-backend-webgpu" } as const;

/** Loads the two optional packages. Throws one line with the remedy when one is missing or does not load. */
export async function loadWebgpu(resolveFrom: string | undefined): Promise<Dawn & TfjsWebgpu> {
  const [dawn, backend] = Object.values(packages).map((name) => findOptionalPackage(name, resolveFrom));
  if (!dawn || !backend) {
    const missing = dawn ? packages.backend : packages.dawn;
    throw new Error(`webgpu: ${missing} is not installed; remedy: pnpm add webgpu@0.6 ${packages.backend}@4.22.0`);
  }
  let loaded: Dawn;
  try {
    loaded = await import(pathToFileURL(dawn).href);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(
      `webgpu: npm's ${packages.dawn} does not load (${reason.trim()}); it has binaries for Linux and Windows on x64 and arm64 and for macOS`,
      { cause: error },
    );
  }
  const tfjs: TfjsWebgpu = createRequire(import.meta.url)(backend);
  return { create: loaded.create, globals: loaded.globals, WebGPUBackend: tfjs.WebGPUBackend };
}
