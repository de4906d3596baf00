/* oxlint-disable no-control-regex -- control characters are what this file is about */

/** C0 and C1 controls, line separators, bidirectional overrides and lone surrogates: what could move a terminal's cursor or break a line. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const ascii = /^[\u0020-\u007e]*$/;

/** Text that stays on its line of a terminal: each control character becomes `?`. */
export function printable(text: string): string {
  return ascii.test(text) ? text : text.replaceAll(unprintable, "?");
}

/** Columns that printable text takes: two for East Asian wide characters and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += /\p{M}|\u200d/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}
