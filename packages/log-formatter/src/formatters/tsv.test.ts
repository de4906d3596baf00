import * as fc from "fast-check";
import Papa from "papaparse";
import { expect, test } from "vitest";
import { headerOf, stepOf, wildStep } from "../record.test-support.ts";
import type { StepRecord } from "../record.ts";
import { distinctStep, fromPaths, wellFormed } from "./paths.test-support.ts";
import { tsv } from "./tsv.ts";

/** The table that a formatter writes for these steps. */
function table(records: readonly StepRecord[], formatter = tsv()): string {
  return records
    .map((record) => new TextDecoder("utf-8", { fatal: true }).decode(formatter.step(record) as Uint8Array))
    .join("");
}

/** Rows by column name, read with the quoting rules of CSV, which must find nothing to do. */
function rows(text: string): Record<string, string>[] {
  const { data, errors } = Papa.parse<Record<string, string>>(text, {
    header: true,
    delimiter: "\t",
    newline: "\n",
    skipEmptyLines: true,
  });
  expect(errors).toEqual([]);
  return data;
}

/** The step in a row: empty cells are absent, lists are joined by commas, `more` is merged in. */
function stepIn(row: Readonly<Record<string, string>>): StepRecord {
  const paths: Record<string, string> = {};
  for (const [path, cell] of Object.entries(row)) {
    if ((cell === "" && path !== "verdict.cause") || path === "more") continue;
    if (path === "tags" || path === "nonfinite")
      cell.split(",").forEach((item, index) => (paths[`${path}.${index}`] = item));
    else if (!path.startsWith("verdict.") || row["verdict.share"] !== "null" || row["verdict.cause"] !== "null")
      paths[path] = cell;
  }
  const record = fromPaths(paths);
  const more = wellFormed(
    JSON.parse(row["more"] || "{}") as Partial<
      Record<"sections" | "lanes" | "metrics" | "gauges", Record<string, unknown>>
    >,
  );
  for (const [group, values] of Object.entries(more)) {
    const known = record[group as "sections"] as Record<string, object>;
    for (const [name, value] of Object.entries(values)) {
      const before = Object.hasOwn(known, name) ? known[name] : undefined;
      Object.defineProperty(known, name, {
        value: typeof before === "object" && before !== null ? { ...before, ...(value as object) } : value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return record;
}

function list(items: string[]): string[] {
  return items.join("") === "" && items.length < 2 ? [] : items;
}

/** Where a cell is empty, the value counts as absent. */
function withoutEmptyText(record: StepRecord): StepRecord {
  const sections = Object.entries(record.sections).map(
    ([name, { reason, ...section }]) => [name, reason ? { ...section, reason } : section] as const,
  );
  const { nonfinite, ...rest } = record;
  const named = list(nonfinite ?? []);
  return {
    ...rest,
    sections: Object.fromEntries(sections),
    tags: list(record.tags),
    ...(named.length > 0 ? { nonfinite: named } : {}),
  };
}

test("a table is written as documented", () => {
  const first = stepOf(1, { tags: ["warm up", "a,b"] });
  const second = stepOf(2, {
    verdict: null,
    sections: { load: { ms: null, self_ms: null, n: 0, reason: "not reached" } },
    metrics: { loss: null, tau: 2.5 },
  });
  expect(table([first, second]).split("\n")).toEqual([
    "step attempt t_ms ms residual_ms ov_us load.ms load.self_ms load.n drafter/backward.ms drafter/backward.self_ms drafter/backward.n lanes.drafter.busy_ms lanes.drafter.wait_ms lanes.drafter.overlap verdict.cause verdict.share verdict.confidence metrics.tokens_per_s metrics.loss metrics.accuracy gauges.queue_depth tags nonfinite more".replaceAll(
      " ",
      "\t",
    ),
    "1\t1\t0\t48.1\t0.2\t4.25\t2.9\t2.9\t1\t45\t45\t2\t45\t2.9\tnull\tdrafter-bound\t0.935\t0.9\t1234.5\t3.25\t0.21\t2\twarm%20up,a%2Cb\t\t",
    '2\t1\t48.2\t48.1\t0.2\t4.25\tnull\tnull\t0\t\t\t\t45\t2.9\tnull\tnull\tnull\tnull\t\tnull\t\t2\t\t\t{"sections":{"load":{"reason":"not reached"}},"metrics":{"tau":2.5}}',
    "",
  ]);
});

test("steps read by a parser of delimited files are the steps, whatever columns the first one made", () => {
  fc.assert(
    fc.property(fc.array(distinctStep, { minLength: 1, maxLength: 3 }), (records) => {
      const found = rows(table(records)).map(stepIn);
      expect(found.map(wellFormed).map(withoutEmptyText)).toEqual(records.map(wellFormed).map(withoutEmptyText));
    }),
    { numRuns: 200 },
  );
});

test("any numbers at all give rows of one width", () => {
  fc.assert(
    fc.property(fc.array(wildStep, { minLength: 1, maxLength: 3 }), (records) => {
      const lines = table(records).split("\n").slice(0, -1);
      expect(lines).toHaveLength(records.length + 1);
      expect(new Set(lines.map((line) => line.split("\t").length)).size).toBe(1);
    }),
  );
});

test("sections of the header have columns before they ran, and a further file begins with the columns", () => {
  const formatter = tsv();
  formatter.header!(headerOf([{ name: "checkpoint", parent: null, lane: "drafter", role: "checkpoint" }]));
  expect(formatter.preamble!()).toBe("");
  const [columns] = table([stepOf(1)], formatter).split("\n");
  expect(columns).toContain("\tcheckpoint.ms\tcheckpoint.self_ms\tcheckpoint.n\tload.ms\t");
  expect(formatter.preamble!()).toBe(`${columns}\n`);
});
