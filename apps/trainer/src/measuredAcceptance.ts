/** The acceptance length that an event `tau` tells, which was measured by generating; null where there is none. */
export function measuredAcceptance(data: unknown): number | null {
  return typeof data === "object" && data !== null && "pooled" in data && typeof data.pooled === "number"
    ? data.pooled
    : null;
}
