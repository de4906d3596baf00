import * as tf from "@tensorflow/tfjs-core";
import { describe, expect, test } from "vitest";
import { engineProblem } from "./engineProblem.ts";
import { startEngine } from "./startEngine.ts";

const options = { resolveFrom: `${import.meta.dirname}/../../../apps/trainer` };
const missing = process.env["DFLASH_LONG"] ? await engineProblem("webgpu", options) : "DFLASH_LONG=1";

describe.skipIf(missing !== null)(`webgpu${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  test("dispatching waits for nothing; a read and a sync wait until the device is done, which is counted", async () => {
    const { counters, sync, dispose } = await startEngine("webgpu", options);
    const square = tf.randomUniform([256, 256]);
    await sync();
    const before = counters.syncMs;
    const y = tf.tidy(() => tf.sum(tf.matMul(square, tf.matMul(square, square))));
    expect(counters.syncMs).toBe(before);
    const start = performance.now();
    await y.data();
    const read = counters.syncMs - before;
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThanOrEqual(performance.now() - start);
    await sync();
    expect(counters.syncMs - before).toBeGreaterThan(read);
    dispose();
  });
});
