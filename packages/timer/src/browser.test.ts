import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { bundle } from "./bundle.test-support.ts";
import type { ReportSnapshot } from "./report.ts";

const executablePath = "/usr/bin/chromium";
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** What a page does with the timer. */
const script = `
  const timer = createTimer();
  const statistics = createStatistics(timer);
  const load = timer.section("load"), fit = timer.section("fit");
  const reports = [];
  timer.on("report", (report) => reports.push(report.snapshot()));
  const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
  for (let step = 0; step < 3; step += 1) await timer.step(async () => {
    await load.time(() => new Promise((resolve) => setTimeout(resolve, 5)));
    fit.start(); spin(10); fit.stop();
  });
  return { reports, steps: statistics.summary().step.n, spans: readSpans(timer, reports[2]).map(({ name }) => name), calibration: timer.calibration };
`;

it.skipIf(!existsSync(executablePath))(
  `runs in a page (skipped without ${executablePath}: apt-get install chromium)`,
  async () => {
    const code = await bundle("browser.test-page.ts");
    const browser = await chromium.launch({ executablePath, args });
    try {
      const page = await browser.newPage();
      // As text: the test's own loader would rewrite an import.
      const result = await page.evaluate<{
        reports: ReportSnapshot[];
        steps: number;
        spans: string[];
        calibration: Record<string, number>;
      }>(`(async () => {
      const source = new Blob([${JSON.stringify(code)}], { type: "text/javascript" });
      const { createTimer, createStatistics, readSpans } = await import(URL.createObjectURL(source));
      ${script}
    })()`);
      expect(result.reports).toHaveLength(3);
      for (const { ms, residualMs, sections, unbalanced } of result.reports) {
        expect(sections.load!.ms! + sections.fit!.ms! + residualMs).toBeCloseTo(ms, 6);
        // The page's clock is coarse: a tenth of a millisecond.
        expect(sections.fit!.ms).toBeGreaterThanOrEqual(9.8);
        expect(unbalanced).toBe(0);
      }
      expect(result.spans).toEqual(["load", "fit"]);
      expect(result.steps).toBe(3);
      expect(Object.values(result.calibration).every((ns) => ns >= 0 && Number.isFinite(ns))).toBe(true);
    } finally {
      await browser.close();
    }
  },
);
