import { expect, test } from "vitest";
import { createLateRecord } from "./createLateRecord.ts";

test("a late report becomes a record with the columns that it has, null and 0 told apart", () => {
  const late = { step: 7, sections: { load: { gcMs: 0 }, fit: { deviceMs: null, stallMs: 1.5 } } };
  expect(createLateRecord(late)).toEqual({
    kind: "late",
    step: 7,
    sections: { load: { gc_ms: 0 }, fit: { device_ms: null, stall_ms: 1.5 } },
  });
});
