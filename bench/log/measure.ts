import { formatCases, stepCases } from "./cases.ts";
import { createRecords } from "./records.ts";

const records = createRecords(128);
const warmRounds = 150;
const rounds = 60;
/** A case that is slow measures fewer rounds. */
const longestMs = 1500;
const coldCalls = 100;
const cache = new Uint8Array(8 << 20);

const name = process.argv[2] ?? "";
const make = formatCases[name] ?? stepCases[name];
if (make === undefined)
  throw new Error(`no case ${name}: one of ${Object.keys({ ...formatCases, ...stepCases }).join(", ")}`);
const call = make();

/** Microseconds a call, of each round over all records. */
function measureRounds(count: number): number[] {
  const times: number[] = [];
  const end = performance.now() + longestMs;
  while (times.length < count && performance.now() < end) {
    const start = process.hrtime.bigint();
    for (const record of records) call(record);
    times.push(Number(process.hrtime.bigint() - start) / 1000 / records.length);
  }
  return times;
}

measureRounds(warmRounds);
const hot = measureRounds(rounds);

/** Microseconds of single calls, each after 8 MB of other memory were touched. */
const cold: number[] = [];
for (let index = 0; index < coldCalls; index++) {
  for (let at = 0; at < cache.length; at += 64) cache[at]!++;
  const record = records[index % records.length]!;
  const start = process.hrtime.bigint();
  call(record);
  cold.push(Number(process.hrtime.bigint() - start) / 1000);
}
process.send!({ hot, cold });
