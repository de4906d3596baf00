import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDflash, temporaryFolder } from "../dflash.test-support.ts";
import type { PageData } from "../report/runData.ts";

const small = ["--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "48", "--engine", "wasm"];

/** Asks until the answer is as wanted. */
async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("a run is looked at while it goes on, traced and profiled, and ended by SIGTERM as by Ctrl-C", async () => {
  const folder = temporaryFolder();
  const looks = ["--dashboard", "0", "--trace", "3:5", "--cpu-profile", "3:5"];
  const child = startDflash(["train", "--steps", "100000", ...small, ...looks, "--out", "run"], folder);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  const url = await Promise.race([
    until(
      () => Promise.resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0] ?? ""),
      (found) => found !== "",
    ),
    closed.then((code) => Promise.reject(new Error(`exit code ${code}: ${stderr}`))),
  ]);

  const page = await (await fetch(url)).text();
  expect(page).toMatch(/^<!doctype html>/);
  const data = await until(
    async () => (await (await fetch(`${url}/data`)).json()) as PageData,
    ({ runs }) => (runs[0]?.steps ?? 0) >= 8,
  );
  expect(data.live).toBe(true);
  expect(data.runs[0]).toMatchObject({ name: "run", attempts: 1 });
  expect(data.runs[0]!.sections.map(({ name }) => name)).toContain("drafter/backward");
  expect((await fetch(`${url}/elsewhere`)).status).toBe(404);

  child.kill("SIGTERM");
  expect(await closed).toBe(143);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^go on with: pnpm dflash train --resume run$/m);

  const trace = JSON.parse(readFileSync(join(folder, "run/trace.json"), "utf8")) as { ph: string; name: string }[];
  expect(trace.filter(({ ph, name }) => ph === "X" && name === "step")).toHaveLength(3);
  expect(trace.map(({ name }) => name)).toContain("drafter/backward");
  const profile = JSON.parse(readFileSync(join(folder, "run/profile.cpuprofile"), "utf8")) as Record<string, unknown[]>;
  expect(profile["samples"]!.length).toBeGreaterThan(0);
  expect(profile["nodes"]!.length).toBeGreaterThan(10);
});
