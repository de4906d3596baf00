import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileSink } from "./fileSink.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "file-sink-"));
  path = join(folder, "runs", "log");
});
afterEach(() => rmSync(folder, { recursive: true }));

const files = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(folder, "runs")).map((name) => [name, readFileSync(join(folder, "runs", name), "utf8")]),
  );
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("a chunk is in the file when write returns, and what was there stays", () => {
  const first = fileSink(path);
  first.write("one\n", "step");
  expect(files()).toEqual({ log: "one\n" });
  first.write(bytes("two ü\n"), "step");
  void first.close!();
  const second = fileSink(path);
  second.write("three\n", "step");
  void second.close!();
  expect(files()).toEqual({ log: "one\ntwo ü\nthree\n" });
});

test("a torn last line is ended before the first new one", () => {
  fileSink(path).write('{"kind":"st', "step");
  fileSink(path).write("whole\n", "step");
  fileSink(path).write("next\n", "step");
  expect(files()).toEqual({ log: '{"kind":"st\nwhole\nnext\n' });
});

test("a file that would grow past its size makes room for one that begins like it; no line is cut or lost", () => {
  const sink = fileSink(path, { maxBytes: 30 });
  sink.open!("lines", () => "# header\n");
  sink.write("# header\n", "header");
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}\n`);
  for (const line of lines) sink.write(bytes(line), "step");
  const found = files();
  expect(Object.keys(found)).toEqual(["log", "log.1", "log.2"]);
  expect(["log.1", "log.2", "log"].map((name) => found[name]!.replace("# header\n", "")).join("")).toBe(lines.join(""));
  for (const text of Object.values(found)) {
    expect(text).toMatch(/^# header\n/);
    expect(text.length).toBeLessThanOrEqual(30);
  }
});

test("a resumed run goes on counting its files", () => {
  for (let run = 0; run < 3; run++) {
    const sink = fileSink(path, { maxBytes: 8 });
    sink.write(`run ${run}a\n`, "step");
    sink.write(`run ${run}b\n`, "step");
    void sink.close!();
  }
  expect(files()).toEqual({
    "log.1": "run 0a\n",
    "log.2": "run 0b\n",
    "log.3": "run 1a\n",
    "log.4": "run 1b\n",
    "log.5": "run 2a\n",
    log: "run 2b\n",
  });
});

test("a line longer than the size has a file of its own", () => {
  const sink = fileSink(path, { maxBytes: 4 });
  sink.write("long line\n", "step");
  sink.write("other long line\n", "step");
  expect(files()).toEqual({ "log.1": "long line\n", log: "other long line\n" });
});

test("a document begins a file of its own, torn or not", () => {
  for (const text of ["[1]", "[2]", "[3]"]) {
    const sink = fileSink(path);
    sink.open!("document", () => "");
    sink.write(text, "step");
    void sink.close!();
  }
  expect(files()).toEqual({ log: "[1]", "log.1": "[2]", "log.2": "[3]" });
});

test("a page replaces the one before, and no reader sees half of one", () => {
  writeFileSync(join(folder, "page"), "old page");
  const sink = fileSink(join(folder, "page"));
  sink.open!("page", () => "");
  sink.write("page 1", "step");
  sink.write(bytes("page 2"), "step");
  expect(readFileSync(join(folder, "page"), "utf8")).toBe("page 2");
  expect(existsSync(join(folder, "page.tmp"))).toBe(false);
});

test("a folder in the way and a closed file are errors at once", () => {
  expect(() => fileSink(folder)).toThrow(/EISDIR/);
  const sink = fileSink(path);
  void sink.close!();
  expect(() => sink.write("late\n", "step")).toThrow(`${path} is closed`);
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk is an error of the write (skipped where there is no /dev/full)",
  () => {
    const sink = fileSink("/dev/full");
    expect(() => sink.write("line\n", "step")).toThrow(/ENOSPC/);
  },
);
