import { fileURLToPath } from "node:url";
import { openSafetensors } from "@dflash/safetensors";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { mismatch } from "./opMismatch.test-support.ts";

/** What tools/parity/distillation.py computed in PyTorch. */
const path = fileURLToPath(new URL("../../../tools/parity/distillation.safetensors", import.meta.url));

describeOps((ops) => {
  test("linearDistillation and its gradient are PyTorch's, for sure teachers and rows of weight 0 too", async () => {
    const { upload, valueAndGrad, linearDistillation } = ops();
    const file = await openSafetensors(path);
    const load = async (name: string) => upload(await file.readFloat32(name), file.tensors.get(name)!.shape);
    const [x, teacher, weight] = [await load("x"), await load("teacher"), await load("weight")];
    const weights = await file.readFloat32("weights");
    const { outputs, gradients } = valueAndGrad([x], () =>
      linearDistillation(x, teacher, weight, weights, { chunkRows: 4 }),
    );
    const rowLosses = (await file.readFloat32("row_losses")).map((loss, row) => (weights[row] === 0 ? 0 : loss));
    expect(mismatch(await outputs.rowLosses.read(), rowLosses, "rowLosses")).toBe("");
    expect(mismatch(await outputs.loss.read(), await file.readFloat32("loss"), "loss")).toBe("");
    expect(mismatch(await gradients[0]!.read(), await file.readFloat32("dx"), "dx")).toBe("");
    expect(await outputs.predictions.read()).toEqual(await file.readInt32("predictions"));
    for (const tensor of [x, teacher, weight, ...Object.values(outputs), ...gradients]) tensor.dispose();
    await file.close();
  });
});
