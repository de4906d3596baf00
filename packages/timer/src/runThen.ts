/** Runs `fn` and then `done`: also when it throws, and only when it has settled if it returns a promise. */
export function runThen<T>(fn: () => T, done: () => void): T;
export function runThen(fn: () => unknown, done: () => void): unknown {
  let result: unknown;
  try {
    result = fn();
  } catch (error) {
    done();
    throw error;
  }
  if (result instanceof Promise) return result.finally(done);
  done();
  return result;
}
