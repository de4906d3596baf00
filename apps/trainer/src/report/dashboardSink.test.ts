import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ndjson, readLog } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { dashboardSink } from "./dashboardSink.ts";
import type { PageData } from "./runData.ts";
import { writeSampleLog } from "./sampleLog.test-support.ts";

test("steps that a resumed run does again count once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  try {
    writeSampleLog(folder, { steps: 10 });
    const earlier = join(folder, "log.ndjson");
    const sink = dashboardSink({ port: 0, earlier, stepsBefore: 6 });
    const url = await sink.url;
    const shown = async (): Promise<number | undefined> => {
      const response = await fetch(`${url}/data`);
      // oxlint-disable-next-line no-unsafe-type-assertion -- the page's own data
      return ((await response.json()) as PageData).runs[0]?.steps;
    };
    expect(await shown()).toBe(6);
    const formatter = ndjson();
    for await (const record of readLog(earlier))
      if (record.kind === "step" && record.step > 6) sink.write(formatter.step(record), "step");
    await expect.poll(shown).toBe(10);
    await sink.close!();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
