import { EventEmitter } from "eventemitter3";

declare const console: { error(...values: unknown[]): void };

/** An emitter of the payloads `P` by event, whose listeners can't harm whoever emits. */
export interface GuardedEmitter<P> {
  /** Calls a listener on every event; a promise that it returns is not awaited. */
  on<E extends keyof P & string>(event: E, listener: (payload: P[E]) => unknown): void;
  /** Calls it on the next event only. */
  once<E extends keyof P & string>(event: E, listener: (payload: P[E]) => unknown): void;
  /** Calls it no more. */
  off<E extends keyof P & string>(event: E, listener: (payload: P[E]) => unknown): void;
  /** Calls the listeners of an event, in the order in which they were added. */
  emit<E extends keyof P & string>(event: E, payload: P[E]): void;
}

/** A listener of any payload: a method's parameter may be narrower. */
type Listener = { listen(payload: unknown): unknown }["listen"];

/** Makes an emitter; what a listener throws, or rejects with, is reported once on the console and reaches nobody else. */
export function createGuardedEmitter<P>(owner: string): GuardedEmitter<P> {
  const emitter = new EventEmitter();
  const guards = new WeakMap<Listener, Listener>();

  /** Always the same for a listener, so that it can be removed. */
  function guarded(event: string, listener: Listener): Listener {
    // The emitter refuses it.
    if (typeof listener !== "function") return listener;
    const known = guards.get(listener);
    if (known) return known;
    let told = false;
    const tell = (error: unknown): void => {
      if (!told) console.error(`${owner}: a listener of "${event}" failed, and is not reported again:`, error);
      told = true;
    };
    const guard: Listener = (payload) => {
      try {
        const result = listener(payload);
        if (result instanceof Promise) result.catch(tell);
      } catch (error) {
        tell(error);
      }
    };
    guards.set(listener, guard);
    return guard;
  }

  return {
    on: (event, listener) => void emitter.on(event, guarded(event, listener)),
    once: (event, listener) => void emitter.once(event, guarded(event, listener)),
    off: (event, listener) => void emitter.off(event, guarded(event, listener)),
    emit: (event, payload) => void emitter.emit(event, payload),
  };
}
