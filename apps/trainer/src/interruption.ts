/** What a command throws that was asked to end and has nothing to say of it. */
export const interruption = (exitCode: number): Error => Object.assign(new Error("interrupted"), { exitCode });

/** The exit code of an interruption; undefined for any other error. */
export const interruptionCode = (error: unknown): number | undefined =>
  error instanceof Error && "exitCode" in error && typeof error.exitCode === "number" ? error.exitCode : undefined;
