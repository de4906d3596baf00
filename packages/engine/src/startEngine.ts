import type { Engine, EngineName } from "./engine.ts";
import type { MatmulPrecision } from "./tensorflowEnvironment.ts";

/** Settings of {@link startEngine}. */
export interface StartEngineOptions {
  /**
   * Threads, or what gives them for the engine that is tried; on `wasm` the number of cores, at most 4, unless given, on
   * `tensorflow` the number of cores.
   */
  threads?: number | ((engine: EngineName) => number | undefined);
  /**
   * In what the `tensorflow` engines multiply matrices of float32, which they add up in float32: `bf16` where the CPU has
   * units for it, TensorFloat-32 on a GPU. `fp32` unless given; the other engines have nothing else. Like `threads`, the
   * first start in a process decides.
   */
  matmulPrecision?: MatmulPrecision;
  /** Part of the name of the GPU that the `webgpu` engine is to take; the fastest unless given. */
  adapter?: string;
  /** Folder to look for optional packages, the native engines, in first; the working folder and the main script's come next. */
  resolveFrom?: string;
}

/** Starts an engine; one that nobody asked for by its name must be worth it. */
type Starter = (options: StartEngineOptions & { threads?: number }, named: boolean) => Promise<Engine>;

/** Loaded when they are started, since whoever only asks for the engines' names need not wait for tfjs. */
const starters: ReadonlyMap<EngineName, Starter> = new Map<EngineName, Starter>([
  [
    "tensorflow-gpu",
    async (options, named) => (await import("./startTensorflow.ts")).startTensorflow("tensorflow-gpu", options, named),
  ],
  [
    "tensorflow",
    async (options, named) => (await import("./startTensorflow.ts")).startTensorflow("tensorflow", options, named),
  ],
  [
    "webgpu",
    async (options, named) => (await import("./startWebgpu.ts")).startWebgpu(options, { allowSoftware: named }),
  ],
  ["wasm", async (options) => (await import("./startWasm.ts")).startWasm(options)],
  ["cpu", async () => (await import("./startCpu.ts")).startCpu()],
]);

/** Every engine, fastest first: the order that `auto` tries. */
export const engineNames: readonly EngineName[] = [...starters.keys()];

/**
 * Starts one engine in this thread. `auto` takes the first of {@link engineNames} that works here; its `description`
 * says why the faster ones did not.
 * @throws Error of one line on an unknown name, a precision that it does not have, a number of threads that is none, an engine that can't start here, or a
 * second engine in one thread.
 */
export async function startEngine(name: EngineName | "auto", options: StartEngineOptions = {}): Promise<Engine> {
  if (name !== "auto") {
    const start = starters.get(name);
    if (start === undefined) throw new Error(`unknown engine "${name}"; engines are auto, ${engineNames.join(", ")}`);
    checkPrecision(name, options);
    return start(optionsFor(name, options), true);
  }
  const missing = new Set<string>();
  for (const [engineName, start] of starters) {
    try {
      checkPrecision(engineName, options);
      const engine = await start(optionsFor(engineName, options), false);
      return missing.size === 0
        ? engine
        : { ...engine, description: `${engine.description} (no ${[...missing].join("; no ")})` };
    } catch (error) {
      missing.add(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`no engine starts here: ${[...missing].join("; ")}`);
}

function checkPrecision(name: EngineName, { matmulPrecision = "fp32" }: StartEngineOptions): void {
  if (matmulPrecision !== "fp32" && !name.startsWith("tensorflow"))
    throw new Error(`${name}: its products are of float32; ${matmulPrecision} takes the tensorflow engine`);
}

function optionsFor(
  name: EngineName,
  { threads: wanted, ...options }: StartEngineOptions,
): StartEngineOptions & { threads?: number } {
  const threads = typeof wanted === "function" ? wanted(name) : wanted;
  if (threads === undefined) return options;
  if (!Number.isInteger(threads) || threads < 1)
    throw new Error(`${name}: threads is ${threads}, expected a whole number from 1`);
  return { ...options, threads };
}
