import { expect, onTestFinished, test } from "vitest";
import { startDflash, temporaryFolder } from "../dflash.test-support.ts";
import { hasChromium, launchChromium, needsChromium } from "../report/chromium.test-support.ts";

const small = ["--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "48", "--engine", "wasm"];

test.skipIf(!hasChromium)(
  `train --dashboard in a browser: goes on by itself, answers keys while steps run, holds while it is read (${needsChromium})`,
  async () => {
    const child = startDflash(
      ["train", "--steps", "100000", ...small, "--dashboard", "0", "--out", "run"],
      temporaryFolder(),
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    let printed = "";
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
        if (address !== undefined) resolve(address);
      });
      child.on("close", (code) => reject(new Error(`exit code ${code}: ${printed}`)));
    });
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 390, height: 800 }, colorScheme: "dark" });
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));

    await page.goto(url);
    await page.waitForSelector("canvas");
    const stepsShown = async (): Promise<number> =>
      Number((await page.innerText("main .figures .figure:has-text('steps') strong")).replaceAll(/\D/g, ""));
    const before = await stepsShown();
    await expect.poll(stepsShown, { timeout: 60_000 }).toBeGreaterThan(before);
    expect(await page.innerText(".live")).toBe("live");
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBeLessThanOrEqual(0);

    // What is unfolded by the keyboard stays so when newer data are drawn.
    await page.locator(".rows summary").first().press("Enter");
    const unfolded = await stepsShown();
    await expect.poll(stepsShown, { timeout: 60_000 }).toBeGreaterThan(unfolded);
    expect(await page.locator(".rows details[open]").count()).toBe(1);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");

    const isDark = (): Promise<boolean> => page.evaluate("document.documentElement.dataset.theme === 'dark'");
    expect(await isDark()).toBe(true);
    await page.keyboard.press("t");
    expect(await isDark()).toBe(false);

    // A step that is looked at stays, until Esc.
    await page.keyboard.press("Home");
    expect(await page.locator(".at").first().innerText()).toBe("step 1");
    await expect.poll(() => page.innerText(".live"), { timeout: 60_000 }).toContain("held");
    const held = await stepsShown();
    await page.keyboard.press("Escape");
    await expect.poll(stepsShown, { timeout: 60_000 }).toBeGreaterThan(held);

    const closed = new Promise((resolve) => child.on("close", resolve));
    child.kill("SIGTERM");
    await closed;
    await expect.poll(() => page.innerText(".live"), { timeout: 60_000 }).toBe("the run has ended");
    expect(problems).toEqual([]);
  },
  300_000,
);
