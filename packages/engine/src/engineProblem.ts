import type { EngineName } from "./engine.ts";
import { startEngine, type StartEngineOptions } from "./startEngine.ts";

/** Why an engine does not start here, in one line with the remedy; null when it does. Starts it and stops it again. */
export async function engineProblem(name: EngineName, options?: StartEngineOptions): Promise<string | null> {
  try {
    const engine = await startEngine(name, options);
    engine.dispose();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
