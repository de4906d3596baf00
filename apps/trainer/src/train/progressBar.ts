/** State of a run on its way. */
export interface Progress {
  done: number;
  total: number;
  /** Time left in milliseconds; null while unknown. */
  remainingMs: number | null;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** `2:05` or `1:02:05`. */
function clockTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A bar of `columns` characters with the count, the share and the time left. */
export function progressBar({ done, total, remainingMs }: Progress, columns: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const text = `  ${done}/${total}  ${Math.floor(share * 100)}%  ETA ${remainingMs === null ? "-" : clockTime(remainingMs)}`;
  const width = Math.max(0, Math.min(60, columns - text.length - 1));
  const filled = Math.round(share * width);
  return "█".repeat(filled) + "░".repeat(width - filled) + text;
}
