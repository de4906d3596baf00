import { createNames } from "../createNames.ts";
import type { LogFormatter, LogTarget } from "../logFormatter.ts";
import { displayWidth, printable } from "../printable.ts";
import type { StepRecord, SummaryRecord } from "../record.ts";
import { duration, percent, short } from "./readableNumbers.ts";
import { createTerminalLine, type TerminalLine } from "./terminalLine.ts";

/** Metrics shown first, with the label each has on a terminal. */
const known = { tokens_per_s: "tok/s", loss: "loss", accuracy: "acc" };
const knownMetrics = Object.entries(known);
const shownMetrics = 3;
const shownSections = 5;

/** A name as it is shown, with its columns. */
const label = createNames((name) => {
  const text = printable(name);
  return { text, width: displayWidth(text) };
});

/** One readable line a step: its time, three metrics, the bottleneck, the biggest sections with their share of the step. */
export function pretty(target: LogTarget): LogFormatter {
  const line = createTerminalLine(target);
  return {
    header({ run, attempt, host, start }) {
      line.begin();
      line.addText(`run ${run}`, "bold");
      line.addText(`attempt ${attempt}`);
      line.addText(host);
      line.addText(start);
      return line.end();
    },
    step(record) {
      line.begin();
      line.add(`step ${pad(String(record.step), 5)}`, 0, "bold");
      line.add(pad(duration(record.ms), 8));
      addMetrics(line, record.metrics);
      if (record.verdict !== null) {
        const { text, width } = label(record.verdict.cause);
        line.add(`${text} ${Math.round(record.verdict.share * 100)}%`, width - text.length, "yellow");
      }
      addSections(line, record);
      return line.end();
    },
    event({ step, name, data }) {
      line.begin();
      line.add(`step ${pad(String(step), 5)}`);
      line.addText(name, "yellow");
      for (const text of details(data)) line.addText(text);
      return line.end();
    },
    summary(record) {
      return summaryTable(record)
        .map((row, index) => {
          line.begin();
          // A narrow terminal goes without the last columns.
          for (const cell of row) line.addText(cell, index === 0 ? "bold" : undefined);
          return line.end();
        })
        .join("");
    },
  };
}

function addMetrics(line: TerminalLine, metrics: StepRecord["metrics"]): void {
  let shown = 0;
  for (const [name, text] of knownMetrics) {
    if (!Object.hasOwn(metrics, name)) continue;
    addMetric(line, text, 0, metrics[name]!);
    shown++;
  }
  for (const name in metrics) {
    if (shown === shownMetrics) return;
    if (Object.hasOwn(known, name)) continue;
    const { text, width } = label(name);
    addMetric(line, text, width - text.length, metrics[name]!);
    shown++;
  }
}

function addMetric(line: TerminalLine, text: string, wider: number, value: number | null): void {
  line.add(`${text} ${short(value)}`, wider, value === null ? "red" : undefined);
}

/** Biggest first, by the time a section took itself, so that nested sections do not count twice. */
function addSections(line: TerminalLine, { sections, ms, residual_ms }: StepRecord): void {
  const names: string[] = [];
  const times: number[] = [];
  for (const name in sections) {
    const self = sections[name]!.self_ms;
    if (self === null || !(self > 0)) continue;
    let at = names.length;
    while (at > 0 && times[at - 1]! < self) at--;
    if (at === shownSections) continue;
    names.splice(at, 0, name);
    times.splice(at, 0, self);
    if (names.length > shownSections) {
      names.pop();
      times.pop();
    }
  }
  names.forEach((name, index) => {
    const { text, width } = label(name);
    const time = times[index]!;
    line.add(`${text} ${duration(time)} (${percent(time, ms)})`, width - text.length, index === 0 ? "cyan" : "dim");
  });
  line.add(`rest ${duration(residual_ms)} (${percent(residual_ms, ms)})`, 0, "dim");
}

/** What an event says: its message if it has one, else its numbers and texts. */
function details(data: unknown): string[] {
  if (typeof data === "string") return [data];
  if (typeof data !== "object" || data === null) return [];
  if ("message" in data && typeof data.message === "string") return [data.message];
  return Object.entries(data).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "number") return [`${name} ${short(value)}`];
    return typeof value === "string" ? [`${name} ${value}`] : [];
  });
}

/** Cells, those of a column equally wide. */
function summaryTable({ from, to, sections }: SummaryRecord): string[][] {
  const total = sections["(step)"]?.sum_ms ?? 0;
  const rows = Object.entries(sections).map(([name, { sum_ms, p50, p90, p99, max }]) => [
    printable(name),
    duration(sum_ms),
    percent(sum_ms, total),
    ...[p50, p90, p99, max].map(duration),
  ]);
  const table = [[`steps ${from}-${to}`, "total", "share", "p50", "p90", "p99", "max"], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => displayWidth(row[column]!))));
  return table.map((row) =>
    row.map((cell, column) => (column === 0 ? cell + blank(cell, widths[0]!) : blank(cell, widths[column]!) + cell)),
  );
}

function blank(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - displayWidth(text)));
}

function pad(text: string, width: number): string {
  return text.length < width ? text.padStart(width) : text;
}
