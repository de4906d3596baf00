/** Milliseconds as a reader says them: `0.31 ms`, `48.1 ms`, `2.35 s`. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return "-";
  const size = Math.abs(ms);
  if (size < 9.995) return `${decimals(ms, 2)} ms`;
  if (size < 999.95) return `${decimals(ms, 1)} ms`;
  return size < 59_995 ? `${decimals(ms / 1000, 2)} s` : `${decimals(ms / 60_000, 1)} min`;
}

/** Share of a whole, `93.5%`; `-` where there is none. */
export function percent(part: number, whole: number): string {
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
export function short(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(2);
  if (size >= 10_000) return `${decimals(value / 1000, 1)}k`;
  if (size >= 1000) return String(Math.round(value));
  if (size < 0.01 && size > 0) return value.toExponential(2);
  const scale = size >= 100 ? 10 : size >= 10 ? 100 : size >= 1 ? 1000 : 10_000;
  return String(Math.round(value * scale) / scale);
}
