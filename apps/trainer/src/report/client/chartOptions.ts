/** One line, or one layer of a stack. */
export interface Line {
  readonly label: string;
  readonly color: () => string;
  readonly values: readonly (number | null)[];
  /** Thin and faint, behind the others: the figures that a smooth line stands for. */
  readonly faint?: true;
  /** Broken, to tell it from another of the same colour. */
  readonly dashed?: true;
}

/** What a chart shows. */
export interface ChartOptions {
  readonly title: string;
  /** First step of each bin. */
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number | null | undefined) => string;
  /** Areas on top of one another. */
  readonly stacked?: true;
  /** The scale begins at nothing, and ends at this at least. */
  readonly fromZero?: number;
  /** Both ends of the scale, shared with another chart. */
  readonly range?: readonly [number, number];
  readonly height?: number;
  /** Distances that ticks may have, where powers of ten would be odd. */
  readonly increments?: readonly number[];
  /** Steps at which something happened. */
  readonly marks?: readonly number[];
}
