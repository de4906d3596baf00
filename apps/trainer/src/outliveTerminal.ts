import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { isatty } from "node:tty";

/**
 * Lets the process end as it means to, though its terminal is gone: Node sets terminals back as they were when it ends, and aborts
 * where that can't be done.
 */
export function outliveTerminal(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on("exit", () => {
    for (const descriptor of terminals) {
      if (isatty(descriptor)) continue;
      closeSync(descriptor);
      // Takes the lowest number, which is the one that was let go.
      openSync(devNull, "r+");
    }
  });
}
