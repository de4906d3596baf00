import { formatCases, stepCases } from "./cases.ts";
import { createRecords } from "./records.ts";

const records = createRecords(512);
const rounds = 60;
const coldCalls = 200;
const cache = new Uint8Array(8 << 20);

/** Microseconds a call: of each round of 512 calls, and of single calls after 8 MB of other memory were touched. */
const name = process.argv[2] ?? "";
const make = formatCases[name] ?? stepCases[name];
if (make === undefined)
  throw new Error(`no case ${name}: one of ${Object.keys({ ...formatCases, ...stepCases }).join(", ")}`);
const call = make();

const hot: number[] = [];
for (let round = 0; round < rounds * 2; round++) {
  const start = process.hrtime.bigint();
  for (const record of records) call(record);
  const micros = Number(process.hrtime.bigint() - start) / 1000 / records.length;
  // The first half is for the compiler.
  if (round >= rounds) hot.push(micros);
}

const cold: number[] = [];
for (let index = 0; index < coldCalls; index++) {
  for (let at = 0; at < cache.length; at += 64) cache[at]!++;
  const record = records[index % records.length]!;
  const start = process.hrtime.bigint();
  call(record);
  cold.push(Number(process.hrtime.bigint() - start) / 1000);
}
process.send!({ hot, cold });
