/** Resolves when the promise has, or after so many milliseconds. */
export async function settledWithin(promise: Promise<void>, ms: number): Promise<void> {
  let timeout: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise((resolve) => (timeout = setTimeout(resolve, ms)))]);
  clearTimeout(timeout);
}
