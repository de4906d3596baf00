/** Names that a cache keeps: a loop that invents names by the step must not fill the memory. */
const knownNames = 4096;

interface Known<T> {
  readonly name: string;
  readonly made: T;
  /** What was asked for after it the last time. */
  next: Known<T> | undefined;
}

/** What a format writes for a name, made once a name. Names that come in the same order step by step are not looked up. */
export function createNames<T>(make: (name: string) => T): (name: string) => T {
  const known = new Map<string, Known<T>>();
  let last: Known<T> | undefined;
  return (name) => {
    let found = last?.next;
    if (found === undefined || found.name !== name) {
      found = known.get(name);
      if (found === undefined) {
        if (known.size === knownNames) {
          known.clear();
          last = undefined;
        }
        known.set(name, (found = { name, made: make(name), next: undefined }));
      }
      if (last !== undefined) last.next = found;
    }
    last = found;
    return found.made;
  };
}
