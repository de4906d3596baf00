import type { LogFormatter, LogTarget } from "../logFormatter.ts";
import type { StepRecord } from "../record.ts";
import { displayWidth, printable } from "../printable.ts";

/** Metrics shown first, with the label each has on a terminal. */
const labels: Readonly<Record<string, string>> = { tokens_per_s: "tok/s", loss: "loss", accuracy: "acc" };
const shownMetrics = 3;
const shownSections = 5;

const styles = { dim: 2, bold: 1, red: 31, yellow: 33, cyan: 36 } as const;
type Style = keyof typeof styles;
type Part = readonly [text: string, style?: Style];

/** One readable line a step: its time, three metrics, the biggest sections with their share of the step, the verdict. */
export function pretty(target: LogTarget): LogFormatter {
  const render = (parts: Part[]): string => {
    const texts = parts.map(([text, style]) =>
      target.color && style !== undefined ? `\u001b[${styles[style]}m${text}\u001b[0m` : text,
    );
    return `${texts.join("  ")}\n`;
  };
  const fit = (parts: Part[]): Part[] => {
    let room = target.columns ?? Infinity;
    const fitting: Part[] = [];
    for (const [text, style] of parts) {
      const width = displayWidth(text) + (fitting.length > 0 ? 2 : 0);
      if (width > room) break;
      room -= width;
      fitting.push(style === undefined ? [text] : [text, style]);
    }
    return fitting;
  };

  return {
    header: ({ run, attempt, host, start }) =>
      render(fit([[`run ${printable(run)}`, "bold"], [`attempt ${attempt}`], [printable(host)], [printable(start)]])),
    step: (record) => render(fit([...base(record), ...verdict(record), ...sections(record)])),
    event: ({ step, name, data }) => render(fit([[`step ${step}`], [printable(name), "yellow"], ...details(data)])),
    summary: ({ from, to, sections: all }) => {
      const total = all["(step)"]?.sum_ms ?? 0;
      const rows = Object.entries(all).map(([name, { sum_ms, p50, p90, p99, max }]) => [
        printable(name),
        duration(sum_ms),
        percent(sum_ms, total),
        ...[p50, p90, p99, max].map(duration),
      ]);
      const table = [[`steps ${from}-${to}`, "total", "share", "p50", "p90", "p99", "max"], ...rows];
      const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => displayWidth(row[column]!))));
      return table
        .map((row) =>
          row
            .map((cell, column) => (column === 0 ? cell + pad(cell, widths[0]!) : pad(cell, widths[column]!) + cell))
            .join("  "),
        )
        .map((line, index) => render([index === 0 ? [line, "bold"] : [line]]))
        .join("");
    },
  };
}

const pad = (text: string, width: number): string => " ".repeat(Math.max(0, width - displayWidth(text)));

function base(record: StepRecord): Part[] {
  const names = [
    ...Object.keys(labels).filter((name) => name in record.metrics),
    ...Object.keys(record.metrics).filter((name) => !(name in labels)),
  ];
  const metrics = names.slice(0, shownMetrics).map((name): Part => {
    const value = record.metrics[name] ?? null;
    const text = `${labels[name] ?? printable(name)} ${short(value)}`;
    return value === null ? [text, "red"] : [text];
  });
  return [[`step ${String(record.step).padStart(5)}`, "bold"], [duration(record.ms).padStart(8)], ...metrics];
}

function verdict({ verdict: found }: StepRecord): Part[] {
  return found === null ? [] : [[`${printable(found.cause)} ${Math.round(found.share * 100)}%`, "yellow"]];
}

/** Biggest first, by the time a section took itself, so that nested sections do not count twice. */
function sections(record: StepRecord): Part[] {
  const times = Object.entries(record.sections).map(([name, { self_ms }]) => [name, self_ms ?? 0] as const);
  const biggest = times.filter(([, ms]) => ms > 0).toSorted((x, y) => y[1] - x[1]);
  const shown = [...biggest.slice(0, shownSections), ["rest", record.residual_ms] as const];
  return shown.map(([name, ms], index): Part => [
    `${printable(name)} ${duration(ms)} (${percent(ms, record.ms)})`,
    index === 0 ? "cyan" : "dim",
  ]);
}

function details(data: unknown): Part[] {
  if (typeof data === "string") return [[printable(data)]];
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).flatMap(([name, value]): Part[] =>
    typeof value === "string" || typeof value === "number"
      ? [[`${printable(name)} ${typeof value === "number" ? short(value) : printable(value)}`]]
      : [],
  );
}

/** Milliseconds as a reader says them: `0.31 ms`, `48.1 ms`, `2.35 s`. */
function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return "-";
  if (Math.abs(ms) < 10) return `${ms.toFixed(2)} ms`;
  if (Math.abs(ms) < 1000) return `${ms.toFixed(1)} ms`;
  return Math.abs(ms) < 60_000 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

function percent(part: number, whole: number): string {
  return whole > 0 && Number.isFinite(part) ? `${((100 * part) / whole).toFixed(1)}%` : "-";
}

/** Four significant digits. */
function short(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size >= 10_000 && size < 1e6) return `${(value / 1000).toFixed(1)}k`;
  if (size >= 1000 && size < 10_000) return value.toFixed(0);
  return size === 0 || (size >= 0.001 && size < 1000) ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}
