import { expect, test } from "vitest";
import { leftOutRecords } from "./leftOut.ts";

test("the first few are named, the rest counted, and none comes twice", () => {
  const records = leftOutRecords();
  expect(records.take()).toBeNull();
  for (const record of [4, 8, 8, 15, 16, 23]) records.add(record, `hs_${record} is gone`);
  expect(records.take()).toEqual({
    message: "5 records left out: hs_4 is gone; hs_8 is gone; hs_15 is gone; and 2 more",
    count: 5,
    records: [4, 8, 15].map((record) => ({ record, reason: `hs_${record} is gone` })),
  });
  expect(records.take()).toBeNull();
  for (const record of [42, 4]) records.add(record, `hs_${record} is gone`);
  expect(records.take()).toMatchObject({ message: "1 record left out: hs_42 is gone", count: 1 });
});
