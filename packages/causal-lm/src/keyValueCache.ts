import type { Ops, Tensor } from "@dflash/ops";
import type { TargetCache } from "@dflash/target-forward";
import type { KeysValues } from "./attentionBlock.ts";

/** A cache as its model sees it. */
export interface KeyValueCache extends TargetCache {
  /** One a layer; empty while no token is held. */
  readonly kept: readonly KeysValues[];
  /** Takes the place of what was kept. */
  replace(kept: readonly KeysValues[], length: number): void;
}

/** An empty cache. */
export function createKeyValueCache(ops: Ops): KeyValueCache {
  let kept: readonly KeysValues[] = [];
  let length = 0;
  const replace = (next: readonly KeysValues[], nextLength: number): void => {
    for (const { keys, values } of kept) for (const tensor of [keys, values]) tensor.dispose();
    kept = next;
    length = nextLength;
  };
  return {
    get length() {
      return length;
    },
    get kept() {
      return kept;
    },
    replace,
    crop(to) {
      if (!Number.isInteger(to) || to < 0 || to > length)
        throw new RangeError(`target cache: length is ${to}, expected an integer from 0 to ${length}`);
      if (to === length) return;
      const cut = (tensor: Tensor): Tensor => ops.slice(tensor, 0, to);
      replace(to === 0 ? [] : kept.map(({ keys, values }) => ({ keys: cut(keys), values: cut(values) })), to);
    },
    dispose: () => replace([], 0),
  };
}
