import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = "/usr/bin/chromium";

/** Whether there is a browser to test pages in. */
export const hasChromium: boolean = existsSync(executablePath);

/** What to say where there is none. */
export const needsChromium = `skipped without ${executablePath}: apt-get install chromium`;

/** Starts Debian's chromium, without a window. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
