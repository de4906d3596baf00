import { afterEach, describe, expect, it, vi } from "vitest";
import { createGuardedEmitter } from "./guardedEmitter.ts";

describe("guarded events", () => {
  const error = vi.spyOn(console, "error").mockReturnValue();
  afterEach(() => error.mockClear());

  it("come to those who listen, until they stop, or once", () => {
    const events = createGuardedEmitter<{ batch: number }>("test");
    const heard: string[] = [];
    const always = (batch: number): number => heard.push(`always ${batch}`);
    events.on("batch", always);
    events.once("batch", (batch) => heard.push(`once ${batch}`));
    events.emit("batch", 1);
    events.emit("batch", 2);
    events.off("batch", always);
    events.emit("batch", 3);
    expect(heard).toEqual(["always 1", "once 1", "always 2"]);
  });

  it("report a listener that throws or rejects once, and still come to the others", async () => {
    const events = createGuardedEmitter<{ batch: number }>("test");
    const heard: number[] = [];
    const thrown = new Error("listener is broken");
    events.on("batch", () => {
      throw thrown;
    });
    events.on("batch", () => Promise.reject(thrown));
    events.on("batch", (batch) => heard.push(batch));
    events.emit("batch", 1);
    events.emit("batch", 2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual([1, 2]);
    const line = 'test: a listener of "batch" failed, and is not reported again:';
    expect(error.mock.calls).toEqual([
      [line, thrown],
      [line, thrown],
    ]);
  });
});
