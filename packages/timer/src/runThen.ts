/** Runs `fn` and then `done`: also when it throws, and only when it has settled if it returns a promise. */
export function runThen<T>(fn: () => T, done: () => void): T {
  let result: T;
  try {
    result = fn();
  } catch (error) {
    done();
    throw error;
  }
  if (result instanceof Promise) return result.finally(done) as T;
  done();
  return result;
}
