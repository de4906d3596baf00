import { EventEmitter } from "eventemitter3";

declare const console: { error(...values: unknown[]): void };

/** An emitter of the payloads `P` by event, whose listeners can't harm whoever emits. */
export interface GuardedEmitter<P> {
  on<E extends keyof P & string>(event: E, listener: (payload: P[E]) => unknown): void;
  once<E extends keyof P & string>(event: E, listener: (payload: P[E]) => unknown): void;
  off<E extends keyof P & string>(event: E, listener: (payload: P[E]) => unknown): void;
  emit<E extends keyof P & string>(event: E, payload: P[E]): void;
}

/** Makes an emitter; what a listener throws, or rejects with, is reported once on the console and reaches nobody else. */
export function createGuardedEmitter<P>(owner: string): GuardedEmitter<P> {
  const emitter = new EventEmitter();
  let registered: { event: string; listener: unknown; remove: () => void }[] = [];

  function off(event: string, listener: unknown): void {
    const matches = (entry: { event: string; listener: unknown }): boolean =>
      entry.event === event && entry.listener === listener;
    for (const entry of registered.filter(matches)) entry.remove();
    registered = registered.filter((entry) => !matches(entry));
  }

  const add =
    (once: boolean): GuardedEmitter<P>["on"] =>
    (event, listener) => {
      let told = false;
      const tell = (error: unknown): void => {
        if (!told) console.error(`${owner}: a listener of "${event}" failed, and is not reported again:`, error);
        told = true;
      };
      const guarded = (payload: Parameters<typeof listener>[0]): void => {
        if (once) off(event, listener);
        try {
          const result = listener(payload);
          if (result instanceof Promise) result.catch(tell);
        } catch (error) {
          tell(error);
        }
      };
      emitter.on(event, guarded);
      registered.push({ event, listener, remove: () => emitter.off(event, guarded) });
    };

  return {
    off,
    on: add(false),
    once: add(true),
    emit(event, payload) {
      emitter.emit(event, payload);
    },
  };
}
