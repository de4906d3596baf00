import type { Tensor } from "./tensor.ts";

/** Nested lifetimes of tensors. */
export interface Scopes {
  /** Puts a new tensor into the innermost open scope; outside all of them it lives until it is disposed. */
  adopt(tensor: Tensor): void;
  /** Runs `fn` in a scope of its own: at its end frees what was adopted, and hands what `fn` returned to the scope around. */
  readonly run: <T>(fn: () => T) => T;
  /** Runs `fn` as if no scope were open. */
  readonly suspend: <T>(fn: () => T) => T;
}

export function createScopes(): Scopes {
  let open: Tensor[][] = [];
  const adopt = (tensor: Tensor): void => {
    open.at(-1)?.push(tensor);
  };
  return {
    adopt,
    run(fn) {
      const adopted: Tensor[] = [];
      open.push(adopted);
      const returned = new Set<unknown>();
      try {
        const result = fn();
        if (result instanceof Promise)
          throw new TypeError("scope: fn returned a promise; only a synchronous function can be scoped");
        collect(result, returned);
        return result;
      } finally {
        open.pop();
        for (const tensor of adopted) {
          if (returned.has(tensor)) adopt(tensor);
          else tensor.dispose();
        }
      }
    },
    suspend(fn) {
      const suspended = open;
      open = [];
      try {
        return fn();
      } finally {
        open = suspended;
      }
    },
  };
}

/** Adds `value` and what it holds in arrays and plain objects, at any depth, to `found`. */
function collect(value: unknown, found: Set<unknown>): void {
  if (typeof value !== "object" || value === null || found.has(value) || ArrayBuffer.isView(value)) return;
  found.add(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value) || prototype === Object.prototype || prototype === null) {
    for (const part of Object.values(value)) collect(part, found);
  }
}
