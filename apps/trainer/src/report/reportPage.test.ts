import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createHeaderRecord, createStepRecord, type LogRecord } from "@dflash/log-formatter";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../dflash.test-support.ts";
import { hasChromium, launchChromium, needsChromium } from "./chromium.test-support.ts";
import { writeSampleLog } from "./sampleLog.test-support.ts";
import { writeReport } from "./writeReport.ts";

const many = process.env["DFLASH_LONG"] === "1" ? 100_000 : 20_000;

const background = (page: Page): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
const overflow = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - window.innerWidth");

const brightness = (color: string): number => Math.max(...color.match(/\d+/g)!.map(Number));

describe.skipIf(!hasChromium)(`the page in a browser (${needsChromium})`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** A report of runs of these many steps, opened; with what went wrong on it and what it asked of the network. */
  async function open(
    steps: readonly number[],
    options: { colorScheme?: "light" | "dark"; width?: number } = {},
  ): Promise<{ page: Page; path: string; problems: string[] }> {
    const folder = temporaryFolder();
    const runs = steps.map((_, i) => join(folder, `run-${i + 1}`));
    for (const [i, run] of runs.entries())
      writeSampleLog(run, { steps: steps[i]!, slowAt: Math.floor(steps[i]! / 2), targetMs: 60 + 200 * i });
    const path = join(folder, "report.html");
    await writeReport(runs, path);
    return { ...(await openPage(path, options)), path };
  }

  async function openPage(
    path: string,
    { colorScheme = "light", width = 1200 }: { colorScheme?: "light" | "dark"; width?: number } = {},
  ): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => problems.push(message.text()));
    page.on("request", (request) => {
      if (!/^(file|data):/.test(request.url())) problems.push(request.url());
    });
    await page.goto(String(pathToFileURL(path)));
    await page.waitForSelector("canvas");
    return { page, problems };
  }

  test("shows breakdown, verdict, charts and slow steps, from one file that asks nothing of the network", async () => {
    const { page, path, problems } = await open([300]);
    const text = await page.innerText("main");
    expect(text).toMatch(/target-bound|balanced|drafter-bound/);
    for (const title of [
      "Where the time goes",
      "Wall time by section",
      "Loss",
      "Accuracy",
      "Tokens/s",
      "Queue depth",
      "Memory",
    ])
      expect(text).toContain(title);
    expect(text).toMatch(/step 150 .* times the median/);
    expect(await page.locator(".tree .lane i").count()).toBeGreaterThan(10);
    expect(readFileSync(path, "utf8")).not.toMatch(/(src|href)="(?!data:)/);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("is moved and zoomed by keys", async () => {
    const { page, problems } = await open([300]);
    const at = page.locator(".at").first();
    await page.keyboard.press("Home");
    expect(await at.innerText()).toBe("step 1");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    expect(await at.innerText()).toBe("step 12");
    await page.keyboard.press("End");
    expect(await at.innerText()).toBe("step 300");
    const bars = await page.locator("summary .row").count();
    await page.locator(".rows summary").first().press("Enter");
    expect(await page.locator(".rows details[open] > .row").count()).toBeGreaterThan(0);
    expect(bars).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("shows a run of one step whose names, texts and settings look like markup as what they are", async () => {
    const folder = temporaryFolder();
    const odd = `"><img src=x onerror="globalThis.ran=1"></script><script>globalThis.ran=1</script>`;
    const section = { ms: 4, self_ms: 4, n: 1 };
    const spans = [{ name: odd, lane: odd, startMs: 0, ms: 4, depth: 0 }];
    const calibration = { cost_ns: 0, cost_cold_ns: 0, bias_ns: 0, resolution_ns: 0 };
    const records: LogRecord[] = [
      createHeaderRecord({
        run: odd,
        sections: [odd, "__proto__"].map((name) => ({ name, parent: null, lane: odd, role: odd })),
        calibration,
        config: { target: odd, engine: odd, [odd]: odd },
      }),
      createStepRecord(
        { step: 1, startMs: 0, ms: 8, residualMs: 0, overheadUs: 0, sections: {}, lanes: {} },
        { metrics: { loss: 1, [odd]: 1 }, verdict: { cause: odd, share: 1, confidence: 1 } },
      ),
      { kind: "event", step: 1, name: "checkpoint", data: odd },
      {
        kind: "event",
        step: 1,
        name: "slow",
        data: { step: 1, ms: 8, medianMs: 1, madMs: 1, steps: [{ step: 1, startMs: 0, ms: 8, spans }] },
      },
    ];
    const [, step] = records;
    if (step?.kind === "step")
      step.lanes = Object.fromEntries([["__proto__", { busy_ms: 1, wait_ms: 0, overlap: null }]]);
    if (step?.kind === "step") step.sections = Object.fromEntries([odd, "__proto__"].map((name) => [name, section]));
    writeFileSync(join(folder, "log.ndjson"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const path = join(folder, "report.html");
    await writeReport([folder], path);
    const { page, problems } = await openPage(path);
    expect(await page.innerText("h1")).toBe(odd);
    expect(await page.innerText(".rows")).toContain(odd);
    expect(await page.innerText(".rows")).toContain("__proto__");
    for (const key of ["ArrowRight", "+", "-", "0", "Escape"]) await page.keyboard.press(key);
    expect(await page.evaluate("[document.images.length, globalThis.ran]")).toEqual([0, undefined]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("is dark for those who want it dark, and turns at a key", async () => {
    const { page } = await open([60], { colorScheme: "dark" });
    const dark = await background(page);
    await page.keyboard.press("t");
    const light = await background(page);
    expect(brightness(dark)).toBeLessThan(60);
    expect(brightness(light)).toBeGreaterThan(230);
    await page.close();
  });

  test("fits a narrow window, and sets two runs side by side", async () => {
    const { page, problems } = await open([120, 80], { width: 380 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await page.innerText("h1")).toBe("run-1 and run-2");
    expect(await page.locator(".verdict").count()).toBe(2);
    expect(await page.locator(".stacked canvas").count()).toBe(2);
    expect(await page.innerText(".settings tr.differs >> nth=0")).toMatch(/steps\s+120\s+80/);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("of many steps (100,000 with DFLASH_LONG=1) is a small file whose every chart has a bounded number of points", async () => {
    const { page, path, problems } = await open([many]);
    expect(readFileSync(path).length).toBeLessThan(1_000_000);
    expect(await page.innerText(".figures")).toContain(`${many / 1000}\u202f000`);
    await page.keyboard.press("End");
    expect(await page.locator(".at").first().innerText()).toMatch(/^step \d{5}$/);
    const points: number = await page.evaluate(
      "JSON.parse(document.querySelector('#data').textContent).runs[0].from.length",
    );
    expect(points).toBeLessThanOrEqual(1000);
    expect(problems).toEqual([]);
    await page.close();
  });
});
