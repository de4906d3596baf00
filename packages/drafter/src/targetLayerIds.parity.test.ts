import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fixtures } from "./fixture.test-support.ts";
import { targetLayerIds } from "./targetLayerIds.ts";

const cases: Record<string, number[]> = JSON.parse(readFileSync(`${fixtures}/target-layer-ids.json`, "utf8"));

test.each(Object.entries(cases))("target layers, draft features %s", (key, ids) => {
  const [layers, features] = key.split(",").map(Number);
  expect(targetLayerIds(layers!, features!)).toEqual(ids);
});
