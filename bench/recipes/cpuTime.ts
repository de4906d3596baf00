import type { LogFormatter } from "@dflash/log-formatter";

/** A log format: the seconds of CPU time that the training process, all its threads together, has used up to each step. */
export default (): LogFormatter => ({
  step({ step }) {
    const { user, system } = process.cpuUsage();
    return `${JSON.stringify({ step, cpuSeconds: (user + system) / 1e6 })}\n`;
  },
});
