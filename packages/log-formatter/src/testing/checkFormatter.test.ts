import { expect, test } from "vitest";
import { builtInFormatters } from "../loadFormatter.ts";
import type { LogFormatter } from "../logFormatter.ts";
import { checkFormatter } from "./checkFormatter.ts";

test.each(Object.entries(builtInFormatters))("%s stands hostile records", (_, factory) => {
  expect(() => checkFormatter(factory)).not.toThrow();
});

const bad: [string, () => LogFormatter, RegExp][] = [
  [
    "throws where a section is missing",
    () => ({ step: (r) => `${r.sections["data"]!.ms} ms\n` }),
    /^formatter: step record 2: it threw: Cannot read properties of undefined/,
  ],
  [
    "lets names through unchanged",
    () => ({
      step: (r) =>
        `${Object.keys(r.sections)
          .map((name) => JSON.stringify(name))
          .join()} ${r.verdict?.cause}\n`,
    }),
    /^formatter: step record \d+: control character "\\u009b" in /,
  ],
  [
    "returns nothing",
    () => ({ step: (() => undefined) as unknown as () => string }),
    /^formatter: step record 1: it returned undefined, not a string or bytes$/,
  ],
  [
    "leaves the line open",
    () => ({ step: (r) => String(r.step) }),
    /^formatter: step record 1: no line end after "1"$/,
  ],
  [
    "changes the record",
    () => ({
      step: (r) => {
        r.metrics["seen"] = 1;
        return "";
      },
    }),
    /^formatter: step record 1: it threw: Cannot add property seen/,
  ],
  [
    "fails in close",
    () => ({
      step: () => "",
      close: () => {
        throw new Error("no end");
      },
    }),
    /^formatter: close: it threw: no end$/,
  ],
];

test.each(bad)("a formatter that %s is named with the record", (_, factory, message) => {
  expect(() => checkFormatter(factory)).toThrow(message);
});

test("a careful formatter of one's own passes", () => {
  expect(() => checkFormatter(() => ({ step: (r) => `${r.step}\t${r.sections["data"]?.ms ?? "-"}\n` }))).not.toThrow();
});
