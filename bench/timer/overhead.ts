import { createTimer } from "@dflash/timer";

/** What the timer says that it costs a step, and what it does cost, µs. */
export interface Overhead {
  readonly stepUs: number;
  readonly told: number;
  readonly measured: number;
}

const PAIRS = 1_000;
const SECTIONS = 24;
/** Times that the memory is swept in a step. */
const SWEEPS = 3;
const clock = (): bigint => process.hrtime.bigint();

/** A step of some 2 ms in 24 sections that sweeps 24 MiB in all, in interleaved pairs with the timer on and off. */
export function measureOverhead(): Overhead {
  const timer = createTimer();
  const sections = Array.from({ length: SECTIONS }, (_, i) => timer.section(`section ${i}`));
  const memory = new Float64Array(1 << 20);
  const part = Math.floor(memory.length / SECTIONS);
  const body = (): void => {
    for (let i = 0; i < SECTIONS; i += 1) {
      sections[i]!.start();
      for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
        const from = ((i + sweep * 8) % SECTIONS) * part;
        for (let at = from; at < from + part; at += 4) memory[at]! += 1;
      }
      sections[i]!.stop();
    }
  };
  const told: number[] = [];
  timer.on("report", ({ overheadUs }) => told.push(overheadUs));
  const run = (enabled: boolean): number => {
    timer.enabled = enabled;
    const before = clock();
    timer.step(body);
    return Number(clock() - before) / 1000;
  };
  const on: number[] = [];
  const off: number[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const first = pair % 2 === 0;
    (first ? on : off).push(run(first));
    (first ? off : on).push(run(!first));
  }
  return { stepUs: median(off), told: median(told), measured: median(on.map((us, i) => us - off[i]!)) };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
