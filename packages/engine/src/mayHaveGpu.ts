import { existsSync } from "node:fs";

/** Whether one of the device files of such GPUs is there; systems other than Linux have none, so that they may have the GPU. */
export function mayHaveGpu(nodes: readonly string[]): boolean {
  return process.platform !== "linux" || nodes.some((node) => existsSync(node));
}

/** Device files of GPUs of any maker. */
export const graphicsNodes: readonly string[] = ["/dev/dri", "/dev/nvidiactl", "/dev/dxg"];
