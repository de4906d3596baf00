/** Flags of `dflash train` with their values; an empty value is a flag without one. */
export type Settings = Readonly<Record<string, string>>;

/**
 * The naive loop: everything in one thread, so no batch is computed before it is asked for; a high minReady; features packed and
 * joined in that thread; rows as long as they come. Few anchors a record make the target the heavier part.
 */
export const naive: Settings = {
  "--anchors": "4",
  "--threads": "1",
  "--target-workers": "0",
  "--queue": "3",
  "--min-ready": "3",
};

/** What a verdict asks for, in the order in which it is tried. */
const remedies: readonly (readonly [cause: string, setting: string, value: string])[] = [
  ["target-bound", "--target-workers", "1"],
  ["target-bound", "--target-workers", "2"],
  ["lost-overlap", "--target-workers", "1"],
  ["lost-overlap", "--queue", "8"],
  ["queue", "--min-ready", "1"],
  ["queue", "--queue", "8"],
  ["packing", "--split-features", ""],
  ["allocator-churn", "--buckets", "auto"],
];

/** Changes that are measured at the end although no verdict asked for them. */
export const controls: readonly (readonly [setting: string, value: string])[] = [
  ["--buckets", "auto"],
  ["--split-features", ""],
  ["--threads", "2"],
];

/** The settings with the one change that a verdict asks for; null when it asks for none that is left. */
export function remedy(cause: string, settings: Settings): { setting: string; value: string } | null {
  for (const [named, setting, value] of remedies) {
    if (named === cause && !isDone(settings, setting, value)) return { setting, value };
  }
  return null;
}

/** Whether a setting is at a value already, or beyond it. */
function isDone(settings: Settings, setting: string, value: string): boolean {
  const now = settings[setting];
  if (now === undefined) return false;
  return setting === "--min-ready" ? Number(now) <= Number(value) : value === "" || Number(now) >= Number(value);
}

/** As they are written on a command line. */
export const written = (settings: Settings): string =>
  Object.entries(settings)
    .map(([setting, value]) => `${setting} ${value}`.trim())
    .join(" ");
