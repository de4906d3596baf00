import { describe, expect, it } from "vitest";
import { mayPut, mayTake, queuePolicy } from "./queuePolicy.ts";

describe("the queue's policy", () => {
  it("has defaults and refuses what would block for ever", () => {
    expect(queuePolicy({})).toEqual({ capacity: 2, minReady: 1 });
    expect(() => queuePolicy({ capacity: 0 })).toThrow("queue capacity is 0, expected a whole number above 0");
    expect(() => queuePolicy({ capacity: 1.5 })).toThrow("queue capacity is 1.5");
    expect(() => queuePolicy({ minReady: 0 })).toThrow(
      "queue minReady is 0, expected a whole number from 1 to the capacity, 2",
    );
    expect(() => queuePolicy({ capacity: 4, minReady: 5 })).toThrow(
      "queue minReady is 5, expected a whole number from 1 to the capacity, 4",
    );
  });

  it("keeps the place of the next batch free for it", () => {
    const policy = queuePolicy({ capacity: 3 });
    expect([0, 1, 2, 3].map((ahead) => mayPut(policy, ahead))).toEqual([true, true, true, false]);
  });

  it("gives batches from minReady on, and the last ones without it", () => {
    const policy = queuePolicy({ capacity: 3, minReady: 2 });
    expect([0, 1, 2, 3].map((ready) => mayTake(policy, ready, false))).toEqual([false, false, true, true]);
    expect([0, 1, 2].map((ready) => mayTake(policy, ready, true))).toEqual([false, true, true]);
  });
});
