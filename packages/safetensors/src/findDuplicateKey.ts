/** The first key that stands twice in one object of a valid JSON text: `JSON.parse` keeps the last one silently. */
export function findDuplicateKey(json: string): string | undefined {
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}:]/g;
  const open: Set<unknown>[] = [];
  let text: string | undefined;
  for (let match = tokens.exec(json); match !== null; match = tokens.exec(json)) {
    const token = match[0];
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (token !== ":") text = token;
    else {
      const key: unknown = JSON.parse(text!);
      const keys = open.at(-1)!;
      if (keys.has(key)) return String(key);
      keys.add(key);
    }
  }
  return undefined;
}
