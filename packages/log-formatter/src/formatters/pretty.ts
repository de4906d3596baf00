import { createNames } from "../lineBytes.ts";
import type { LogFormatter, LogTarget } from "../logFormatter.ts";
import { displayWidth, printable } from "../printable.ts";
import type { StepRecord, SummaryRecord } from "../record.ts";

/** Metrics shown first, with the label each has on a terminal. */
const known = { tokens_per_s: "tok/s", loss: "loss", accuracy: "acc" };
const knownMetrics = Object.entries(known);
const shownMetrics = 3;
const shownSections = 5;

const styles = {
  bold: "\u001b[1m",
  dim: "\u001b[2m",
  red: "\u001b[31m",
  yellow: "\u001b[33m",
  cyan: "\u001b[36m",
} as const;
const reset = "\u001b[0m";
const gap = "  ";

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
          line.addText(row, index === 0 ? "bold" : undefined);
          return line.end();
        })
        .join("");
    },
  };
}

/** A line that takes parts as long as they fit. */
interface TerminalLine {
  begin(): void;
  /** Adds printable text, whose columns are its length and `wider`. */
  add(text: string, wider?: number, style?: keyof typeof styles): void;
  /** Adds text of any kind. */
  addText(text: string, style?: keyof typeof styles): void;
  end(): string;
}

function createTerminalLine(target: LogTarget): TerminalLine {
  let text = "";
  let room = 0;
  const add: TerminalLine["add"] = (part, wider = 0, style) => {
    const before = text === "" ? "" : gap;
    room -= before.length + part.length + wider;
    // Less room than nothing stays so: nothing smaller slips in behind.
    if (room < 0) return;
    text += before + (style !== undefined && target.color ? styles[style] + part + reset : part);
  };
  return {
    begin() {
      text = "";
      room = target.columns ?? Infinity;
    },
    add,
    addText(part, style) {
      const shown = printable(part);
      add(shown, displayWidth(shown) - shown.length, style);
    },
    end: () => `${text}\n`,
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

function summaryTable({ from, to, sections }: SummaryRecord): string[] {
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
    row
      .map((cell, column) => (column === 0 ? cell + blank(cell, widths[0]!) : blank(cell, widths[column]!) + cell))
      .join(gap),
  );
}

function blank(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - displayWidth(text)));
}

function pad(text: string, width: number): string {
  return text.length < width ? text.padStart(width) : text;
}

/** Milliseconds as a reader says them: `0.31 ms`, `48.1 ms`, `2.35 s`. */
function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return "-";
  const size = Math.abs(ms);
  if (size < 9.995) return `${decimals(ms, 2)} ms`;
  if (size < 999.95) return `${decimals(ms, 1)} ms`;
  return size < 59_995 ? `${decimals(ms / 1000, 2)} s` : `${decimals(ms / 60_000, 1)} min`;
}

function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  return whole > 0 && Number.isFinite(share) ? `${decimals(share, 1)}%` : "-";
}

/** `toFixed` for one or two decimals of a number of ordinary size, three times as fast. */
function decimals(value: number, count: 1 | 2): string {
  const scale = count === 1 ? 10 : 100;
  const scaled = Math.round(value * scale);
  if (!(scaled >= 0 && scaled < 1e9)) return value.toFixed(count);
  const whole = Math.floor(scaled / scale);
  const rest = scaled - whole * scale;
  return count === 2 && rest < 10 ? `${whole}.0${rest}` : `${whole}.${rest}`;
}

/** Four significant digits, or as many as a small number has at four decimals. */
function short(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(2);
  if (size >= 10_000) return `${decimals(value / 1000, 1)}k`;
  if (size >= 1000) return String(Math.round(value));
  if (size < 0.01 && size > 0) return value.toExponential(2);
  const scale = size >= 100 ? 10 : size >= 10 ? 100 : size >= 1 ? 1000 : 10_000;
  return String(Math.round(value * scale) / scale);
}
