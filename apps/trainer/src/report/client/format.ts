const group = (text: string): string => text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

/** A number in about three digits. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return group(value.toFixed(0));
  if (size === 0) return "0";
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 4);
}

/** Milliseconds in the unit that suits them. */
export function time(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms === 0) return "0";
  if (ms >= 3_600_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  if (ms >= 120_000) return `${(ms / 60_000).toFixed(1)} min`;
  if (ms >= 1000) return `${short(ms / 1000)} s`;
  if (ms >= 1) return `${short(ms)} ms`;
  return `${short(1000 * ms)} µs`;
}

/** A number on an axis: no more digits than it has. */
export const tick = (value: number | null | undefined): string =>
  short(value)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");

/** Bytes in the unit that suits them. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  return `${short(value / 1024 ** power)} ${units[power]}`;
}

/** A share as a percentage. */
export const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : `${(100 * value).toFixed(Math.abs(value) < 0.1 ? 1 : 0)} %`;

/** How much more or less than before: `+12 %`, `×2.14`. */
export function change(now: number, before: number): string {
  if (before === 0) return now === 0 ? "–" : "new";
  if (now === 0) return "gone";
  const ratio = now / before;
  return ratio >= 2 ? `×${short(ratio)}` : `${ratio >= 1 ? "+" : "−"}${percent(Math.abs(ratio - 1))}`;
}
