import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pythonStripFunctions } from "./pythonStrip.ts";
import { tokenizerWithTemplate } from "./tokenizer.test-support.ts";

const { python_strip: strip, python_lstrip: lstrip, python_rstrip: rstrip } = pythonStripFunctions;
const isSpace = "print(','.join(str(c) for c in range(0x10000) if not chr(c).strip()))";
const python = spawnSync("python3", ["-c", isSpace], { encoding: "utf8" });

describe("pythonStripFunctions", () => {
  it("strips the characters given, as a pattern of them would", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", "\n", " ") }),
        fc.constantFrom("\n", "a", "ab", "\n "),
        (text, set) => {
          expect(lstrip?.(text, set)).toBe(text.replace(new RegExp(`^[${set}]+`), ""));
          expect(rstrip?.(text, set)).toBe(text.replace(new RegExp(`[${set}]+$`), ""));
          expect(strip?.(text, set)).toBe(
            text.replace(new RegExp(`^[${set}]+`), "").replace(new RegExp(`[${set}]+$`), ""),
          );
        },
      ),
    );
  });

  it.skipIf(python.status !== 0)("strips the spaces that Python's str.strip does (skipped without python3)", () => {
    const codes = Array.from({ length: 0x10000 }, (_, code) => code);
    expect(codes.filter((code) => strip?.(String.fromCharCode(code)) === "")).toEqual(
      python.stdout.split(",").map(Number),
    );
  });
});

describe("usePythonStrip", () => {
  it.each([
    ["{{ messages[0].content.lstrip('\\n') }}", " \uFEFFa \n"],
    ["{{ messages[0].content.rstrip('\\n') }}", "\n \uFEFFa "],
    ["{{ messages[0].content.strip('\\n') }}", " \uFEFFa "],
    ["{{ messages[0].content | trim }}", "\uFEFFa"],
    ["{% if true %}{% for m in messages %}{{ m.content.strip() + '!' }}{% endfor %}{% endif %}", "\uFEFFa!"],
    ["{{ messages[0].content.split('a')[-1].lstrip('\\n') ~ messages[0].content.strip()[-1:] }}", " \na"],
  ])("makes %s strip as in Python", async (template, expected) => {
    const tokenizer = await tokenizerWithTemplate(template);
    expect(tokenizer.applyChatTemplate([{ role: "user", content: "\n \uFEFFa \n" }])).toBe(expected);
  });
});
