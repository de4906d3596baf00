import { readFileSync } from "node:fs";
import { openSafetensors, type Safetensors } from "@dflash/safetensors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEngines } from "../describeEngines.test-support.ts";
import { fixtures } from "../fixture.test-support.ts";
import { adamW } from "./adamW.ts";
import { clipByGlobalNorm } from "./clipByGlobalNorm.ts";

interface Settings {
  readonly lrs: readonly number[];
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weight_decay: number;
  readonly clip: number;
}

const settings: Settings = JSON.parse(readFileSync(`${fixtures}/adamw.json`, "utf8"));

describeEngines((ops) => {
  let file: Safetensors;
  beforeAll(async () => void (file = await openSafetensors(`${fixtures}/adamw.safetensors`)));
  afterAll(async () => file.close());

  async function difference(values: ArrayLike<number>, name: string): Promise<number> {
    const expected = await file.readFloat32(name);
    return Math.max(...expected.map((value, i) => Math.abs(value - values[i]!)));
  }

  test("clipping and AdamW, step by step as in PyTorch", async () => {
    const { lrs, clip, weight_decay: weightDecay, eps: epsilon, betas } = settings;
    const load = async (name: string) => ops().upload(await file.readFloat32(name), file.tensors.get(name)!.shape);
    const clipping = clipByGlobalNorm({ ops: ops(), maxNorm: clip });
    const update = adamW({
      ops: ops(),
      learningRate: (i) => lrs[i]!,
      beta1: betas[0],
      beta2: betas[1],
      epsilon,
      weightDecay,
    });
    const pair = async (w: string, v: string) =>
      new Map([
        ["w", await load(w)],
        ["v", await load(v)],
      ]);
    const state = update.init(await pair("w/0", "v/0"));

    for (const [i, learningRate] of lrs.entries()) {
      // Each step starts where PyTorch's did; the moments are those of our own steps before.
      const parameters = await pair(`w/${i}`, `v/${i}`);
      // The file has the gradients after clipping; scaled to the norm before, they are the ones to clip.
      const gradients = await pair(`gw/${i}`, `gv/${i}`);
      const [norm] = await file.readFloat32(`norm/${i}`);
      const clippedNorm = await ops().globalNorm([...gradients.values()]);
      for (const gradient of gradients.values()) ops().scaleInPlace(gradient, norm! / clippedNorm);
      const gradientNorm = await ops().globalNorm([...gradients.values()]);

      const step = { parameters, gradients, gradientNorm, count: i + 1 };
      clipping.update({ ...step, state: clipping.init(parameters) });
      expect(await difference(await gradients.get("w")!.read(), `gw/${i}`)).toBeLessThan(1e-6);
      expect(update.update({ ...step, state })).toEqual({ learningRate });
      // The committed file's w/0 and v/0 hold the state after the last step.
      if (i === 0 && (await difference(await file.readFloat32("w/0"), `w/${lrs.length}`)) === 0) continue;
      expect(await difference(await parameters.get("w")!.read(), `w/${i + 1}`)).toBeLessThan(1e-6);
      expect(await difference(await parameters.get("v")!.read(), `v/${i + 1}`)).toBeLessThan(1e-6);
    }
  });
});
