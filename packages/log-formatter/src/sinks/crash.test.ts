import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readLog } from "../read/readLog.ts";
import { headerOf, stepOf } from "../record.test-support.ts";
import { killWhileWriting } from "../testing/killWhileWriting.ts";

const folder = mkdtempSync(join(tmpdir(), "crash-"));
const script = join(folder, "logForEver.js");
const source = (name: string): string => fileURLToPath(new URL(`./${name}.test-support.ts`, import.meta.url));
// Plain Node starts a bundle several times faster than it starts TypeScript.
beforeAll(() =>
  build({
    config: false,
    logLevel: "silent",
    entry: { logForEver: source("logForEver"), logHeldUp: source("logHeldUp") },
    outDir: folder,
    dts: false,
    noExternal: [/./],
    clean: false,
    fixedExtension: false,
  }),
);
afterAll(() => rmSync(folder, { recursive: true }));

interface Damage {
  kills: number;
  /** Steps handed over and not read back. */
  lost: number;
  /** Kills after which the steps read were not 1, 2, 3, … */
  gaps: number;
  torn: number;
  /** Rotated parts that do not end in a whole line. */
  openParts: number;
}

/** Kills and resumes one log again and again. */
async function killAndResume(name: string, kills: number, maxBytes: number): Promise<Damage> {
  const path = join(folder, name, "log.ndjson");
  const notes = join(folder, `${name}.notes`);
  const damage: Damage = { kills, lost: 0, gaps: 0, torn: 0, openParts: 0 };
  let resumeAt = 1;
  for (let attempt = 1; attempt <= kills; attempt++) {
    const given = JSON.stringify({ header: headerOf([], attempt), step: stepOf(resumeAt, { attempt }) });
    const delayMs = Math.random() * 5;
    expect(await killWhileWriting({ args: [script, path, notes, given, String(maxBytes)], delayMs })).toBe("killed");
    const handedOver = Number(readFileSync(notes, "utf8"));
    const steps: number[] = [];
    damage.torn = 0;
    for await (const record of readLog(path, { onTorn: () => damage.torn++ }))
      if (record.kind === "step") steps.push(record.step);
    damage.lost += Math.max(0, handedOver - steps.length);
    if (steps.some((step, index) => step !== index + 1)) damage.gaps++;
    // As from a checkpoint some steps back.
    resumeAt = Math.max(1, steps.length - 5);
  }
  const parts = readdirSync(join(folder, name)).filter((file) => file !== "log.ndjson");
  damage.openParts = parts.filter((part) => !readFileSync(join(folder, name, part), "utf8").endsWith("\n")).length;
  return damage;
}

test("a process killed 200 times in the middle of writing loses at most its last step, and the reader recovers", async () => {
  const logs: Damage[] = [];
  for (const name of ["a", "b", "c", "d", "e"]) {
    logs.push(
      ...(await Promise.all([killAndResume(name, 20, Infinity), killAndResume(`${name}-rotated`, 20, 50_000)])),
    );
  }
  for (const { kills, lost, gaps, torn, openParts } of logs) {
    expect({ lost, gaps, openParts }).toEqual({ lost: 0, gaps: 0, openParts: 0 });
    expect(torn).toBeLessThanOrEqual(kills);
  }
  expect(logs.reduce((sum, { kills }) => sum + kills, 0)).toBe(200);
}, 240_000);

test.runIf(process.platform === "linux")(
  "a formatter that is kept from working, as on a busy machine, is not called slow",
  () => {
    const busy = 'for i in 1 2 3 4; do while :; do :; done & busy="$busy $!"; done';
    const { stdout, stderr } = spawnSync(
      "taskset",
      ["-c", "0", "sh", "-c", `${busy}; "$0" "$1"; kill $busy`, process.execPath, join(folder, "logHeldUp.js")],
      { encoding: "utf8" },
    );
    const times = stdout.trim().split("\n").map(Number);
    expect({ steps: times.length, stderr }).toEqual({ steps: 6, stderr: "" });
    // Else it would not have been held up.
    expect(times.filter((ms) => ms > 50).length).toBeGreaterThan(1);
  },
);
