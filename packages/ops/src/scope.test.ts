import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";

describeOps((ops) => {
  test("frees what was made inside but what it returns, in arrays and objects at any depth too", async () => {
    const { scope, upload, add, engine } = ops();
    const before = engine.memory().tensors;
    const kept = scope(() => {
      const x = upload(Float32Array.of(1), [1]);
      return { sum: add(x, x), layers: [{ k: add(x, add(x, x)) }], name: "kept", none: null };
    });
    expect(engine.memory().tensors).toBe(before + 2);
    expect(await kept.sum.read()).toEqual(Float32Array.of(2));
    expect(await kept.layers[0]!.k.read()).toEqual(Float32Array.of(3));
    kept.sum.dispose();
    kept.layers[0]!.k.dispose();
  });

  test("hands what it returns to the scope around it, which frees it in turn", () => {
    const { scope, upload, engine } = ops();
    const before = engine.memory().tensors;
    scope(() => {
      const inner = scope(() => upload(Float32Array.of(1), [1]));
      expect(engine.memory().tensors).toBe(before + 1);
      expect(inner.shape).toEqual([1]);
    });
    expect(engine.memory().tensors).toBe(before);
  });

  test("leaves alone what is made in it but unscoped, also by scopes in there that return it", async () => {
    const { scope, unscoped, upload, engine } = ops();
    const before = engine.memory().tensors;
    const kept = new Array<ReturnType<typeof upload>>();
    const one = () => upload(Float32Array.of(1), [1]);
    scope(() => {
      unscoped(() =>
        kept.push(
          one(),
          scope(() => (one(), one())),
        ),
      );
      one();
    });
    expect(engine.memory().tensors).toBe(before + 2);
    expect(() =>
      scope(() =>
        unscoped(() => {
          throw new Error("stop");
        }),
      ),
    ).toThrow("stop");
    scope(() => void one());
    expect(engine.memory().tensors).toBe(before + 2);
    for (const tensor of kept) tensor.dispose();
  });

  test("leaves tensors from outside alone, also when it returns them", async () => {
    const { scope, upload } = ops();
    const x = upload(Float32Array.of(4), [1]);
    expect(scope(() => x)).toBe(x);
    expect(await x.read()).toEqual(Float32Array.of(4));
    x.dispose();
  });

  test("frees everything when its function throws or returns a promise", () => {
    const { scope, upload, engine } = ops();
    const before = engine.memory().tensors;
    const fail = () => {
      upload(Float32Array.of(1), [1]);
      throw new Error("stop");
    };
    expect(() => scope(fail)).toThrow("stop");
    expect(() => scope(() => Promise.resolve(upload(Float32Array.of(1), [1])))).toThrow("scope: fn returned a promise");
    expect(engine.memory().tensors).toBe(before);
  });
});
