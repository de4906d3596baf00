import type { Engine, EngineName } from "./engine.ts";
import { startCpu } from "./startCpu.ts";
import { startTensorflow } from "./startTensorflow.ts";
import { startWasm } from "./startWasm.ts";
import type { MatmulPrecision } from "./tensorflowEnvironment.ts";

/** Settings of {@link startEngine}. */
export interface StartEngineOptions {
  /** Threads; on `wasm` the number of cores, at most 4, unless given, on `tensorflow` the number of cores. */
  threads?: number;
  /**
   * In what the `tensorflow` engines multiply matrices of float32, which they add up in float32: `bf16` where the CPU has
   * units for it, TensorFloat-32 on a GPU. `fp32` unless given. Like `threads`, the first start in a process decides.
   */
  matmulPrecision?: MatmulPrecision;
  /** Folder to look for `@tensorflow/tfjs-node-gpu` in first; the working folder and the main script's come next. */
  resolveFrom?: string;
}

type Starter = (options: StartEngineOptions) => Promise<Engine>;

const starters: ReadonlyMap<EngineName, Starter> = new Map<EngineName, Starter>([
  ["tensorflow-gpu", (options) => startTensorflow("tensorflow-gpu", options)],
  ["tensorflow", (options) => startTensorflow("tensorflow", options)],
  ["wasm", startWasm],
  ["cpu", startCpu],
]);

/** Every engine, fastest first: the order that `auto` tries. */
export const engineNames: readonly EngineName[] = [...starters.keys()];

/**
 * Starts one engine in this thread. `auto` takes the first of {@link engineNames} that works here; its `description`
 * says why the faster ones did not.
 * @throws Error of one line on an unknown name, an engine that can't start here, or a second engine in one thread.
 */
export async function startEngine(name: EngineName | "auto", options: StartEngineOptions = {}): Promise<Engine> {
  if (name !== "auto") {
    const start = starters.get(name);
    if (start === undefined) throw new Error(`unknown engine "${name}"; engines are auto, ${engineNames.join(", ")}`);
    return start(options);
  }
  const missing = new Set<string>();
  for (const start of starters.values()) {
    try {
      const engine = await start(options);
      return missing.size === 0
        ? engine
        : { ...engine, description: `${engine.description}; ${[...missing].join("; ")}` };
    } catch (error) {
      missing.add(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`no engine starts here: ${[...missing].join("; ")}`);
}
