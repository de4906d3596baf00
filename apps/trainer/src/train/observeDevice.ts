import type { DeviceClock, DeviceTime } from "@dflash/engine";
import type { Report, Timer } from "@dflash/timer";
import { readSpans, type Span } from "@dflash/timer/spans";

/**
 * Charges the time that a device spent on the kernels of each section, children included, to it as the late column
 * `deviceMs`. Returns a function that stops it.
 */
export function observeDevice(timer: Timer, clock: DeviceClock): () => void {
  timer.expectLate("deviceMs");
  clock.start();
  const charge = async ({ step, startMs, ms }: Report): Promise<void> => {
    const spans = readSpans(timer, { startMs, ms });
    const times = await clock.take();
    if (spans === null || times === null) return;
    const sections = deviceTimes(spans, times);
    timer.late(step, Object.fromEntries([...sections].map(([name, deviceMs]) => [name, { deviceMs }])));
  };
  const onReport = (report: Report): void => {
    // A device that fails is reported by the next kernel.
    charge(report).catch(() => {});
  };
  timer.on("report", onReport);
  return () => void timer.off("report", onReport);
}

/** The sum of the times whose kernels were dispatched in each section. */
export function deviceTimes(spans: readonly Span[], times: readonly DeviceTime[]): Map<string, number> {
  const sections = new Map<string, number>();
  for (const { name, kernels } of spans) {
    if (kernels === null) continue;
    const [first, end] = kernels;
    const inside = times.filter((time) => time.kernels >= first && time.kernels < end);
    sections.set(
      name,
      inside.reduce((sum, { ms }) => sum + ms, sections.get(name) ?? 0),
    );
  }
  return sections;
}
