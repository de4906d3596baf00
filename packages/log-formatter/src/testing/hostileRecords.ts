import type {
  EventRecord,
  HeaderRecord,
  LateRecord,
  LogRecord,
  SectionRecord,
  StepRecord,
  SummaryRecord,
} from "../record.ts";

/** Names that break formats: quotes, separators, line ends, escape codes, lone surrogates, names of built-in properties. */
const names = [
  "",
  " ",
  "a b",
  'quo"te',
  "back\\slash",
  "new\nline",
  "tab\tstop",
  "return\r",
  "\u001b[31mred\u001b[0m",
  "\u009b31m",
  "\u0000",
  "\ud800",
  "\udc00x",
  "\u2028",
  "=",
  "a=b",
  "a.b",
  "a,b",
  "%41",
  "{}",
  "#",
  "ünïcode",
  "数据",
  "👩‍🔬",
  "constructor",
  "toString",
  "metrics",
  "x".repeat(1000),
];
const numbers = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e-9,
  1e21,
  -1e21,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  Number.MAX_SAFE_INTEGER,
  NaN,
  Infinity,
  -Infinity,
];

const header: HeaderRecord = {
  kind: "header",
  v: 1,
  run: 'run "1"\n',
  attempt: 1,
  rank: 0,
  host: "host\u001b[2J",
  pid: 1,
  start: "2026-01-01T00:00:00.000Z",
  sections: names.map((name, index) => ({
    name,
    parent: names[index - 3] ?? null,
    lane: names[index % 3]!,
    role: index % 2 === 0 ? null : "wait",
  })),
  calibration: { cost_ns: 60, cost_cold_ns: 1000, bias_ns: 30, resolution_ns: 1 },
  config: {
    big: 10n,
    nothing: undefined,
    deep: { list: [1, [2, { three: NaN }]] },
    date: new Date(0),
    run: () => "not data",
  },
};
const plain: StepRecord = {
  kind: "step",
  step: 1,
  attempt: 1,
  t_ms: 0,
  ms: 48.1,
  residual_ms: 0.2,
  ov_us: 4,
  sections: { data: { ms: 2.9, self_ms: 2.9, n: 1 } },
  lanes: { drafter: { busy_ms: 45, wait_ms: 3.1, overlap: null } },
  verdict: null,
  metrics: { loss: 3.2 },
  gauges: {},
  tags: [],
};

/** Records that are right by their types, or by what a careless loop would emit, and that a formatter must survive in any order. */
export function hostileRecords(): LogRecord[] {
  const circular: Record<string, unknown> = { name: "circle" };
  circular["self"] = circular;
  const missing: SectionRecord = { ms: null, self_ms: null, n: 0, device_ms: null, reason: 'pending "late"\n' };
  const sections = Object.fromEntries(
    names.map((name, index): [string, SectionRecord] => {
      const value = numbers[index % numbers.length]!;
      const extra = {
        device_ms: value,
        sync_ms: null,
        kernels: value,
        new_bytes: 1e12,
        new_shapes: 0,
        tokens: value,
        flops: 1e18,
        reason: name,
      };
      return [name, { ms: value, self_ms: value, n: index, ...(index % 2 === 0 ? extra : {}) }];
    }),
  );
  const values = Object.fromEntries(names.map((name, index) => [name, numbers[index % numbers.length]!]));
  const lanes = Object.fromEntries(
    names.map((name, index) => [name, { busy_ms: numbers[index % numbers.length]!, wait_ms: 0, overlap: null }]),
  );
  const steps: StepRecord[] = [
    plain,
    { ...plain, step: 2, sections: {}, lanes: {}, metrics: {} },
    { ...plain, step: 3, sections: { data: missing, later: missing }, metrics: { loss: null }, nonfinite: ["loss"] },
    { ...plain, step: 4, sections, lanes, metrics: values, gauges: values, tags: names, nonfinite: names },
    ...names.map((cause, index): StepRecord => ({
      ...plain,
      step: 5 + index,
      verdict: { cause, share: numbers[index % numbers.length]!, confidence: NaN },
    })),
    ...numbers.map((value, index): StepRecord => ({
      ...plain,
      step: 100 + index,
      t_ms: value,
      ms: value,
      residual_ms: value,
      ov_us: value,
    })),
    {
      ...plain,
      step: Number.MAX_SAFE_INTEGER,
      sections: Object.fromEntries(
        Array.from({ length: 2000 }, (_, index) => [`section/${index}`, { ms: 1, self_ms: 1, n: 1 }]),
      ),
    },
  ];
  const late: LateRecord = {
    kind: "late",
    step: 3,
    sections: {
      data: { device_ms: 1.5 },
      unknown: { ms: NaN },
      ...Object.fromEntries(names.map((name) => [name, {}])),
    },
  };
  const percentiles = { n: 0, missing: 3, sum_ms: 0, p50: NaN, p90: NaN, p99: NaN, max: 0 };
  const summaries: SummaryRecord[] = [
    { kind: "summary", from: 1, to: 0, sections: {} },
    { kind: "summary", from: 1, to: 4, sections: Object.fromEntries(names.map((name) => [name, percentiles])) },
  ];
  const events = [...names, null, undefined, 10n, NaN, Symbol("no data"), [], circular, new Map([[1, 2]])].map(
    (data): EventRecord => ({ kind: "event", step: 4, name: typeof data === "string" ? data : "odd", data }),
  );
  return [
    ...steps,
    late,
    ...summaries,
    ...events,
    header,
    { ...header, attempt: 2, sections: [], config: circular },
    plain,
  ];
}
