/** What may be a promise, of whichever realm or library. */
type Result = { readonly then?: unknown } | null | undefined;

/** Runs `fn` and then `done`: also when it throws, and only when it has settled if it returns a promise, or anything with a `then`. */
export function runThen<T>(fn: () => T, done: () => void): T;
export function runThen(fn: () => Result, done: () => void): unknown {
  let result: Result;
  try {
    result = fn();
  } catch (error) {
    done();
    throw error;
  }
  if (typeof result?.then === "function") return Promise.resolve(result).finally(done);
  done();
  return result;
}
