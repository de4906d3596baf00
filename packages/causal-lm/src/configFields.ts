/** Checked access to the keys of a JSON object; each error is one line with the file, the key, the value and what was expected. */
export interface ConfigFields {
  has(key: string): boolean;
  string(key: string): string;
  strings(key: string): readonly string[];
  boolean(key: string, fallback: boolean): boolean;
  /** A whole number above 0. */
  count(key: string, fallback?: number): number;
  /** A finite number above 0. */
  positive(key: string, fallback?: number): number;
  object(key: string): ConfigFields;
  /** Throws unless the key is absent, null or one of `allowed`. */
  only(key: string, ...allowed: readonly unknown[]): void;
  /** Throws the error of `key`. */
  refuse(key: string, expected: string): never;
}

/** Reads `values`, the object at `prefix` (such as `rope_parameters.`) in the JSON file `file`. */
export function configFields(file: string, values: unknown, prefix = ""): ConfigFields {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new Error(`${file}: ${prefix.slice(0, -1) || "the file"} is ${show(values)}, expected an object`);
  }
  const entries = new Map<string, unknown>(Object.entries(values));
  const value = (key: string): unknown => entries.get(key) ?? undefined;
  const refuse = (key: string, expected: string): never => {
    throw new Error(`${file}: ${prefix}${key} is ${show(value(key))}, expected ${expected}`);
  };
  const number = (
    key: string,
    fallback: number | undefined,
    fits: (n: number) => boolean,
    expected: string,
  ): number => {
    const found = value(key) ?? fallback;
    return typeof found === "number" && fits(found) ? found : refuse(key, expected);
  };
  return {
    has: (key) => value(key) !== undefined,
    string(key) {
      const found = value(key);
      return typeof found === "string" ? found : refuse(key, "a string");
    },
    strings(key) {
      const found = value(key);
      const fits = Array.isArray(found) && found.every((item): item is string => typeof item === "string");
      return fits ? found : refuse(key, "a list of strings");
    },
    boolean(key, fallback) {
      const found = value(key) ?? fallback;
      return typeof found === "boolean" ? found : refuse(key, "true or false");
    },
    count: (key, fallback) => number(key, fallback, (n) => Number.isSafeInteger(n) && n > 0, "a whole number above 0"),
    positive: (key, fallback) => number(key, fallback, (n) => Number.isFinite(n) && n > 0, "a number above 0"),
    object: (key) => configFields(file, value(key), `${prefix}${key}.`),
    only(key, ...allowed) {
      const found = value(key);
      if (found !== undefined && !allowed.includes(found)) refuse(key, allowed.map(show).join(" or "));
    },
    refuse,
  };
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "missing";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
