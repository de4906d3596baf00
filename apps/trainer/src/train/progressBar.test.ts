import { expect, test } from "vitest";
import { progressBar } from "./progressBar.ts";

test("the bar fills with the share done and says the time left", () => {
  expect(progressBar({ done: 150, total: 300, remainingMs: 65_000 }, 49)).toBe(
    `${"█".repeat(12)}${"░".repeat(12)}  150/300  50%  ETA 1:05`,
  );
});

test("the bar fits narrow windows and unknown times", () => {
  expect(progressBar({ done: 0, total: 300, remainingMs: null }, 10)).toBe("  0/300  0%  ETA -");
});

test("hours are shown when there are some", () => {
  expect(progressBar({ done: 1, total: 2, remainingMs: 3_725_000 }, 10)).toContain("ETA 1:02:05");
});
