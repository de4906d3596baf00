import { EventEmitter } from "eventemitter3";

type Listener<Payload> = (payload: Payload) => unknown;

/** Typed events whose listeners can't harm who emits. */
export interface GuardedEvents<Events> {
  on<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): void;
  once<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): void;
  off<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): void;
  emit<Name extends keyof Events & string>(event: Name, payload: Events[Name]): void;
}

/** Makes an emitter that reports what a listener throws, or rejects with, once a listener on stderr, in the name of `owner`. */
export function createGuardedEvents<Events>(owner: string): GuardedEvents<Events> {
  const emitter = new EventEmitter();
  const guards = new WeakMap<object, EventEmitter.ListenerFn>();
  const guard = <Payload>(listener: Listener<Payload>): EventEmitter.ListenerFn => {
    const known = guards.get(listener);
    if (known) return known;
    let reported = false;
    const report = (event: string, error: unknown): void => {
      if (!reported) console.error(`${owner}: a listener of "${event}" failed, and is not reported again:`, error);
      reported = true;
    };
    const guarded = (payload: Payload, event: string): void => {
      try {
        const result = listener(payload);
        if (result instanceof Promise) result.catch((error: unknown) => report(event, error));
      } catch (error) {
        report(event, error);
      }
    };
    guards.set(listener, guarded);
    return guarded;
  };
  return {
    on: (event, listener) => void emitter.on(event, guard(listener)),
    once: (event, listener) => void emitter.once(event, guard(listener)),
    off: (event, listener) => void emitter.off(event, guard(listener)),
    emit: (event, payload) => void emitter.emit(event, payload, event),
  };
}
