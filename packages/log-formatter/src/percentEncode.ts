/* oxlint-disable no-control-regex -- control characters are what this file is about */

/** Controls, line separators and the characters that a reader of logfmt or TSV would take for its own. */
const inText = /[\u0000-\u001f\u007f-\u009f\u2028\u2029"\\%]/gu;
const inName = /[\u0000-\u001f\u007f-\u009f\s"\\%=.,]/gu;
const safe = /^[A-Za-z0-9_/()[\]-]*$/;

/** Text without quotes, backslashes or control characters: those as `%XX`, one for each byte of UTF-8. */
export function percentEncodeText(text: string): string {
  return safe.test(text) ? text : text.replaceAll(inText, encodeURIComponent);
}

/** A name that can stand in a path of names: also without white space, `=`, `.` and `,`. */
export function percentEncodeName(name: string): string {
  return safe.test(name) ? name : name.replaceAll(inName, escapeAll);
}

/** What stands at the start of a path in a record besides a section's name. */
const groups = new Set(["lanes", "verdict", "metrics", "gauges", "tags", "nonfinite"]);

/** The start of a section's paths: its name, distinct from the other groups of values. */
export function sectionPath(name: string): string {
  return groups.has(name) ? `%${name.charCodeAt(0).toString(16)}${name.slice(1)}` : percentEncodeName(name);
}

/** `encodeURIComponent` leaves the point alone. */
function escapeAll(character: string): string {
  return character === "." ? "%2E" : encodeURIComponent(character);
}
