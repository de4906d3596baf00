import { freemem } from "node:os";
import type { Ops } from "@dflash/ops";

type Engine = Pick<Ops["engine"], "name" | "wasmHeap" | "memory">;

/** Addresses of WebAssembly have 32 bits. */
const wasmBytes = 2 ** 32;

/** Bytes that an engine can take up now; null where it can't be told. */
function roomFor({ name, wasmHeap, memory }: Engine): number | null {
  if (wasmHeap !== null) return wasmBytes - memory().bytes;
  if (name === "tensorflow-gpu") return null;
  // Within a container's limit, from Node 20.13 on.
  return process.availableMemory?.() ?? freemem();
}

/**
 * Throws before anything is loaded when the weights can't fit.
 *
 * @throws {Error} One line with the folder, the bytes needed and those that there are.
 */
export function checkFits(engine: Engine, dir: string, bytes: number): void {
  const room = roomFor(engine);
  if (room === null || bytes <= room) return;
  throw new Error(
    `${dir}: the weights need ${bytes} bytes as float32, the ${engine.name} engine has room for ${Math.max(0, room)}; use another engine, more memory or a smaller model`,
  );
}
