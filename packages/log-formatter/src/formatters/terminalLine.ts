import type { LogTarget } from "../logFormatter.ts";
import { displayWidth, printable } from "../printable.ts";

const styles = {
  bold: "\u001b[1m",
  dim: "\u001b[2m",
  red: "\u001b[31m",
  yellow: "\u001b[33m",
  cyan: "\u001b[36m",
} as const;
const reset = "\u001b[0m";
/** What stands between two parts. */
const gap = "  ";

/** A line that takes parts as long as they fit. */
export interface TerminalLine {
  begin(): void;
  /** Adds printable text, whose columns are its length and `wider`. */
  add(text: string, wider?: number, style?: keyof typeof styles): void;
  /** Adds text of any kind. */
  addText(text: string, style?: keyof typeof styles): void;
  end(): string;
}

/** A line for a target: as wide as it is, coloured where it has colours. */
export function createTerminalLine(target: LogTarget): TerminalLine {
  let text = "";
  let room = 0;
  const add: TerminalLine["add"] = (part, wider = 0, style) => {
    const before = text === "" ? "" : gap;
    room -= before.length + part.length + wider;
    // Less room than nothing stays so: nothing smaller slips in behind.
    if (room < 0) return;
    text += before + (style !== undefined && target.color ? styles[style] + part + reset : part);
  };
  return {
    begin() {
      text = "";
      room = target.columns ?? Infinity;
    },
    add,
    addText(part, style) {
      const shown = printable(part);
      add(shown, displayWidth(shown) - shown.length, style);
    },
    end: () => `${text}\n`,
  };
}
