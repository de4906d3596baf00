import { closest, distance } from "fastest-levenshtein";

/** What somebody may have meant by a name that there isn't, to stand behind a message; nothing when no name is near. */
export function nearest(name: string, names: readonly string[]): string {
  if (name.length > 64) return "";
  const found = closest(name, names);
  return distance(name.toLowerCase(), found.toLowerCase()) <= Math.max(2, name.length / 2.5)
    ? `; did you mean ${found}?`
    : "";
}
