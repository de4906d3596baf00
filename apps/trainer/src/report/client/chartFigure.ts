import uPlot from "uplot";
import type { ChartOptions, Line } from "./chartOptions.ts";
import { rangeOf, sums } from "./chartScale.ts";
import { element } from "./element.ts";
import { addChart, sync, zoom } from "./openCharts.ts";
import { styleColor } from "./palette.ts";

/** A titled chart over the steps; its head tells the values at the cursor, at the end without one. */
export function chartFigure(options: ChartOptions): HTMLElement {
  const { title, lines, stacked } = options;
  const readouts = lines.filter(({ faint }) => !faint).map((line) => ({ line, value: element("b") }));
  const place = element("span", { class: "at" });
  const legend = element(
    "div",
    { class: stacked ? "legend tall" : "legend" },
    ...(stacked ? readouts.toReversed() : readouts).map(({ line, value }) =>
      element(
        "span",
        {},
        readouts.length > 1 ? element("i", { style: `background:${line.color()}` }) : null,
        readouts.length > 1 ? line.label : null,
        value,
      ),
    ),
  );
  const plot = element("div", { class: "plot" });
  const figure = element(
    "figure",
    { class: stacked ? "stacked" : "", "aria-label": title },
    element("figcaption", {}, element("h3", {}, title), place),
    plot,
    legend,
  );
  queueMicrotask(() => mount(options, plot, place, readouts));
  return figure;
}

function mount(
  options: ChartOptions,
  plot: HTMLElement,
  place: HTMLElement,
  readouts: readonly { line: Line; value: HTMLElement }[],
): void {
  const { lines, steps, stacked, format, height = 150 } = options;
  // Layers are painted from the highest sum to the lowest, each over the one before it.
  const layers = stacked ? sums(lines.map(({ values }) => values)).toReversed() : lines.map(({ values }) => values);
  const painted = stacked ? lines.toReversed() : lines;
  const many = steps.length;

  const show = (chart: uPlot): void => {
    const { idx } = chart.cursor;
    const at = idx ?? many - 1;
    place.textContent = idx === null || idx === undefined ? "" : `step ${steps[at]}`;
    for (const { line, value } of readouts) value.textContent = format(near(line.values, at));
  };

  const made = new uPlot(
    {
      width: plot.clientWidth || 300,
      height,
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: {
        sync: { key: sync.key, scales: ["x", null] },
        y: false,
        points: { size: 6, show: !stacked },
        drag: { x: true, y: false, setScale: false },
      },
      scales: { x: { time: false }, y: { range: (_, low, high) => rangeOf(options, low, high) } },
      axes: [
        axis({ values: (_, ticks) => ticks.map((tick) => compact(tick)), size: 26, space: 70 }),
        axis({
          values: (_, ticks) => ticks.map((tick) => format(tick)),
          size: 62,
          space: 34,
          ...(options.increments ? { incrs: [...options.increments] } : {}),
        }),
      ],
      series: [
        {},
        ...painted.map((line) => ({
          label: line.label,
          stroke: stacked ? () => styleColor("--paper") : line.color,
          width: line.faint ? 1 : stacked ? 0.5 : 1.75,
          alpha: line.faint ? 0.28 : 1,
          spanGaps: true,
          points: { show: many === 1 || (lone(line.values) && !stacked) },
          ...(line.dashed ? { dash: [5, 4] } : {}),
          ...(stacked ? { fill: line.color } : {}),
        })),
      ],
      hooks: {
        setCursor: [show],
        setSelect: [
          (chart) => {
            if (chart.select.width < 4) return;
            const range = [
              chart.posToVal(chart.select.left, "x"),
              chart.posToVal(chart.select.left + chart.select.width, "x"),
            ] as const;
            chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            zoom(range);
          },
        ],
        draw: [(chart) => drawMarks(chart, options.marks ?? [])],
        ready: [
          (chart) => {
            chart.over.addEventListener("dblclick", () => zoom(null));
            show(chart);
          },
        ],
      },
    },
    [[...steps], ...layers.map((values) => [...values])] as uPlot.AlignedData,
    plot,
  );
  addChart(made);
  new ResizeObserver(() => {
    if (plot.clientWidth > 0 && plot.clientWidth !== made.width) made.setSize({ width: plot.clientWidth, height });
  }).observe(plot);
}

/** A step as an axis says it: 12000 as 12k. */
const compact = (step: number): string => (step >= 10_000 && step % 1000 === 0 ? `${step / 1000}k` : String(step));

function axis(own: uPlot.Axis): uPlot.Axis {
  return {
    stroke: () => styleColor("--muted"),
    font: "11px system-ui, sans-serif",
    gap: 4,
    grid: { stroke: () => styleColor("--hair"), width: 1 },
    ticks: { show: false },
    ...own,
  };
}

/** The value at a place, or the last one before it. */
function near(values: readonly (number | null)[], at: number): number | null {
  for (let i = at; i >= 0; i--) if (values[i] !== null && values[i] !== undefined) return values[i]!;
  return null;
}

/** Whether points stand alone, too far apart for a line to tell. */
const lone = (values: readonly (number | null)[]): boolean => {
  const known = values.filter((value) => value !== null).length;
  return known > 0 && known <= 40 && known < values.length / 3;
};

function drawMarks(chart: uPlot, marks: readonly number[]): void {
  const { ctx, bbox, scales } = chart;
  const { min, max } = scales["x"]!;
  ctx.save();
  ctx.strokeStyle = styleColor("--mark");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const step of marks) {
    if (step < (min ?? 0) || step > (max ?? 0)) continue;
    const x = Math.round(chart.valToPos(step, "x", true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
