import { isRecord } from "./chatRecord.ts";

/** What Python's `str.strip` removes by default. JavaScript's `trim` removes U+FEFF too, but not U+0085 and four others. */
const pythonSpaces =
  "\t\n\v\f\r\u001C\u001D\u001E\u001F \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000";

/** Python's `strip`, `lstrip` and `rstrip`, under the names that {@link usePythonStrip} puts into a template. */
export const pythonStripFunctions: Readonly<Record<string, (text: string, characters?: string | null) => string>> = {
  python_strip: (text, characters) => stripEnd(stripStart(text, characters), characters),
  python_lstrip: stripStart,
  python_rstrip: stripEnd,
};

function stripStart(text: string, characters?: string | null): string {
  let start = 0;
  while (start < text.length && (characters ?? pythonSpaces).includes(text[start]!)) start++;
  return text.slice(start);
}

function stripEnd(text: string, characters?: string | null): string {
  let end = text.length;
  while (end > 0 && (characters ?? pythonSpaces).includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/**
 * Makes a parsed chat template strip as in Python: `@huggingface/jinja` 0.5.11 ignores the characters in
 * `content.lstrip('\n')`, on which the prompts of Qwen3 and others depend.
 */
export function usePythonStrip(node: unknown): void {
  if (Array.isArray(node)) node.forEach(usePythonStrip);
  if (!isRecord(node)) return;
  Object.values(node).forEach(usePythonStrip);
  const { type, callee, args, operand, filter } = node;
  if (type === "CallExpression" && isRecord(callee) && callee.type === "MemberExpression") {
    const method = isRecord(callee.property) ? `python_${String(callee.property.value)}` : "";
    if (callee.computed === true || !Object.hasOwn(pythonStripFunctions, method) || !Array.isArray(args)) return;
    Object.assign(node, { callee: { type: "Identifier", value: method }, args: [callee.object, ...args] });
  } else if (type === "FilterExpression" && isRecord(filter) && filter.value === "trim") {
    const strip = { type: "Identifier", value: "python_strip" };
    Object.assign(node, { type: "CallExpression", callee: strip, args: [operand] });
  }
}
