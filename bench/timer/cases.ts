import { Console } from "node:console";
import { Writable } from "node:stream";
import { createTimer } from "@dflash/timer";
import { createStatistics } from "@dflash/timer/statistics";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { Histogram } from "prom-client";
import { cold, type Cost, hot } from "./measure.ts";

/** Cost of one section: in a loop, and with evicted caches. */
export interface SectionCost {
  readonly hot: Cost;
  readonly cold: Cost | null;
}

const NAMES = Array.from({ length: 24 }, (_, i) => `section ${i}`);

function both(call: () => void): SectionCost {
  return {
    hot: hot((times) => {
      for (let i = 0; i < times; i += 1) call();
    }),
    cold: cold(call),
  };
}

/** A timer with 24 sections, whose steps are counted in histograms. */
function timed(): {
  timer: ReturnType<typeof createTimer>;
  sections: ReturnType<ReturnType<typeof createTimer>["section"]>[];
} {
  const timer = createTimer();
  createStatistics(timer);
  return { timer, sections: NAMES.map((name) => timer.section(name)) };
}

const per = ({ min, median }: Cost, parts: number): Cost => ({ min: min / parts, median: median / parts });

/** A step of that many sections. */
function stepOf(count: number): SectionCost {
  const { timer, sections } = timed();
  const body = (): void => {
    for (let i = 0; i < count; i += 1) {
      sections[i]!.start();
      sections[i]!.stop();
    }
  };
  return {
    hot: hot((times) => {
      for (let i = 0; i < times; i += 1) timer.step(body);
    }, 50),
    cold: cold(() => timer.step(body)),
  };
}

/** What is measured, each in a process of its own. */
export const cases: Readonly<Record<string, () => SectionCost>> = {
  "empty loop": () => ({ hot: hot((times) => void (times * times)), cold: null }),
  "two clock reads, the floor": () => {
    const times = new BigInt64Array(2);
    // As the timer holds it: looked up in every call, it costs twice as much.
    // oxlint-disable-next-line typescript/unbound-method -- it needs no this
    const read = process.hrtime.bigint;
    return both(() => {
      times[0] = read();
      times[1] = read();
    });
  },
  "performance.now twice": () => {
    const times = new Float64Array(2);
    return both(() => {
      times[0] = performance.now();
      times[1] = performance.now();
    });
  },
  "timer, disabled": () => {
    const { timer, sections } = timed();
    timer.enabled = false;
    const [section] = sections;
    return {
      hot: hot((times) => {
        for (let i = 0; i < times; i += 1) {
          section!.start();
          section!.stop();
        }
      }, 50_000),
      cold: null,
    };
  },
  "timer, start and stop": () => {
    const [section] = timed().sections;
    const call = (): void => {
      section!.start();
      section!.stop();
    };
    return {
      hot: hot((times) => {
        for (let i = 0; i < times; i += 1) {
          section!.start();
          section!.stop();
        }
      }),
      cold: cold(call),
    };
  },
  "timer, lap": () => {
    const [section] = timed().sections;
    return {
      hot: hot((times) => {
        for (let i = 0; i < times; i += 1) section!.lap();
      }),
      cold: cold(() => section!.lap()),
    };
  },
  "timer, a whole step of 24 sections, by 24": () => {
    const step = stepOf(24);
    return { hot: per(step.hot, 24), cold: per(step.cold!, 24) };
  },
  "timer, a step without sections": () => stepOf(0),
  "performance.mark twice and measure, cleared": () =>
    both(() => {
      performance.mark("start");
      performance.mark("end");
      performance.measure("section", "start", "end");
      performance.clearMarks();
      performance.clearMeasures();
    }),
  "OpenTelemetry SDK span": () => {
    const tracer = new BasicTracerProvider().getTracer("bench");
    return both(() => tracer.startSpan("section").end());
  },
  "prom-client histogram, startTimer": () => {
    const histogram = new Histogram({ name: "section_seconds", help: "section", labelNames: ["section"] }).labels(
      "section",
    );
    return both(() => {
      histogram.startTimer()();
    });
  },
  "console.time to nowhere": () => {
    const nowhere = new Console(new Writable({ write: (_chunk, _encoding, done) => done() }));
    return both(() => {
      nowhere.time("section");
      nowhere.timeEnd("section");
    });
  },
};
