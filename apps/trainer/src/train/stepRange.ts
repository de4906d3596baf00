/** Steps from the first to the last, both included. */
export interface StepRange {
  readonly from: number;
  readonly to: number;
}

/** Reads `10:20`; null when it is no range. */
export function stepRange(text: string): StepRange | null {
  const [, from, to] = /^(\d{1,9}):(\d{1,9})$/.exec(text)?.map(Number) ?? [];
  return from === undefined || to === undefined || from < 1 || to < from ? null : { from, to };
}
