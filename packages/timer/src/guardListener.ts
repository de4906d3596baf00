type Listener<A extends unknown[]> = (...args: A) => unknown;

declare const console: { error(...values: unknown[]): void };

/** Wraps a listener so that what it throws, or rejects with, is reported once and never reaches the emitter. */
export function guardListener<A extends unknown[]>(event: string, listener: Listener<A>): (...args: A) => void {
  let reported = false;
  const report = (error: unknown): void => {
    if (!reported) console.error(`timer: a listener of "${event}" failed, and is not reported again:`, error);
    reported = true;
  };
  return (...args) => {
    try {
      const result = listener(...args);
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  };
}
