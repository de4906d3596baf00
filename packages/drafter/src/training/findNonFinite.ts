import type { Ops, Tensor } from "@dflash/ops";

/** The name of the first tensor that holds a NaN or an infinity, null when none does. One read a tensor: for the rare step that failed. */
export async function findNonFinite(ops: Ops, tensors: Iterable<readonly [string, Tensor]>): Promise<string | null> {
  for (const [name, tensor] of tensors) {
    if (!Number.isFinite(await ops.globalNorm([tensor]))) return name;
  }
  return null;
}
