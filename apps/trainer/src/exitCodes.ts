/** What a process ends with that a signal has asked to end: 128 and the signal's number, as shells have it. */
export const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A signal that asks to end: of a terminal that closes, of Ctrl-C, of a scheduler. */
export type SignalName = keyof typeof exitCodes;

export const signalNames: readonly SignalName[] = ["SIGHUP", "SIGINT", "SIGTERM"];
