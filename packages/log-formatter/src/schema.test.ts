import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { ndjson } from "./formatters/ndjson.ts";
import { anyStep, headerOf, stepOf } from "./record.test-support.ts";
import * as fc from "fast-check";
import { createSummary } from "./createSummary.ts";
import type { LogRecord } from "./record.ts";

interface Node {
  properties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  [key: string]: unknown;
}

const text = readFileSync(new URL("../schema/log-record.v1.json", import.meta.url), "utf8");
const schema = JSON.parse(text) as Node & { $defs: Record<string, Node> };

/** The schema with no room for fields that it does not name: one that is forgotten in it must not pass. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return "properties" in copy && !("additionalProperties" in copy) ? { ...copy, additionalProperties: false } : copy;
}

const compile = (of: object): ValidateFunction =>
  new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true }).compile(of);
const strict = compile(closed(schema) as object);
const open = compile(schema);
const valid = (record: unknown, validate = strict): boolean => validate(record);

const formatter = ndjson();
const line = (record: LogRecord): unknown => {
  const chunk = record.kind === "step" ? formatter.step(record) : formatter[record.kind]!(record as never);
  return JSON.parse(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
};

test("lines of every kind are valid", () => {
  const summary = createSummary();
  summary.add(stepOf(1, { sections: { load: { ms: null, self_ms: null, n: 0 } } }));
  const records: LogRecord[] = [
    headerOf([
      { name: "a", parent: null, lane: "main", role: null },
      { name: "b", parent: "a", lane: "main", role: "wait" },
    ]),
    stepOf(1),
    { kind: "late", step: 1, sections: { load: { device_ms: 1.5, gc_ms: 0, stall_ms: null } } },
    summary.record()!,
    { kind: "event", step: 0, name: "slow", data: { any: ["thing"] } },
    { kind: "event", step: 0, name: "bare", data: undefined },
  ];
  for (const record of records) expect([valid(line(record)), strict.errors]).toEqual([true, null]);
});

test("any step's line is valid, with every optional field", () => {
  fc.assert(
    fc.property(anyStep, (record) => {
      expect([valid(line(record)), strict.errors]).toEqual([true, null]);
    }),
    { numRuns: 200 },
  );
});

test.each<[string, object]>([
  ["no ms", { ...stepOf(1), ms: undefined }],
  ["ms null", { ...stepOf(1), ms: null }],
  ["a metric as text", { ...stepOf(1), metrics: { loss: "NaN" } }],
  ["a section without n", { ...stepOf(1), sections: { load: { ms: 1, self_ms: 1 } } }],
  ["an empty nonfinite", { ...stepOf(1), nonfinite: [] }],
  ["another version", { ...headerOf([]), v: 2 }],
  ["local time", { ...headerOf([]), start: "2026-01-02 03:04" }],
  ["no kind", { step: 1 }],
])("a record with %s is not", (_, record) => {
  expect(valid(JSON.parse(JSON.stringify(record)), open)).toBe(false);
});

test("a field of a later minor version is passed over by today's readers", () => {
  const later = { ...stepOf(1), weather: "fair" };
  expect([valid(later, open), valid(later)]).toEqual([true, false]);
});

test("docs/log-schema.md names every field", () => {
  const docs = readFileSync(new URL("../../../docs/log-schema.md", import.meta.url), "utf8");
  const names = (node: unknown): string[] => {
    if (typeof node !== "object" || node === null) return [];
    const own = "properties" in node ? Object.keys((node as Node).properties!) : [];
    return [...own, ...Object.values(node).flatMap(names)];
  };
  expect([...new Set(names(schema.$defs))].filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
});
