import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openSafetensors } from "@dflash/safetensors";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { relativeError } from "./opMismatch.test-support.ts";

const folder = process.env["DFLASH_FIXTURES"] ?? fileURLToPath(new URL("../../../fixtures", import.meta.url));

interface Settings {
  readonly lrs: readonly number[];
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weight_decay: number;
  readonly clip: number;
}

const settings: Settings = JSON.parse(readFileSync(`${folder}/adamw.json`, "utf8"));

describeOps((ops) => {
  test("clipping by the global norm and AdamW follow PyTorch step by step", async () => {
    const { upload, zeros, adamW, globalNorm, scaleInPlace } = ops();
    const file = await openSafetensors(`${folder}/adamw.safetensors`);
    const load = async (name: string) => upload(await file.readFloat32(name), file.tensors.get(name)!.shape);

    const names = ["w", "v"];
    // The file's `w/0` and `v/0` are the values after the last step, so the first step can only bring the moments along.
    const parameters = await Promise.all(names.map((name) => load(`${name}/1`)));
    const states = parameters.map(({ shape }) => ({ mean: zeros(shape), variance: zeros(shape) }));
    for (const [step, learningRate] of settings.lrs.entries()) {
      const norm = (await file.readFloat32(`norm/${step}`))[0]!;
      // The file holds gradients after clipping; PyTorch divides by the norm + 1e-6 where that is above the limit.
      const clip = Math.min(1, settings.clip / (norm + 1e-6));
      const clipped = await Promise.all(names.map((name) => file.readFloat32(`g${name}/${step}`)));
      const gradients = clipped.map((values, i) =>
        upload(
          values.map((value) => value / clip),
          parameters[i]!.shape,
        ),
      );
      const measured = await globalNorm(gradients);
      expect(relativeError([measured], [norm])).toBeLessThan(1e-6);
      const factor = Math.min(1, settings.clip / (measured + 1e-6));
      if (factor < 1) for (const gradient of gradients) scaleInPlace(gradient, factor);

      for (const [i, parameter] of parameters.entries()) {
        expect(relativeError(await gradients[i]!.read(), clipped[i]!)).toBeLessThan(1e-6);
        adamW(parameter, gradients[i]!, states[i]!, {
          learningRate: step === 0 ? 0 : learningRate,
          beta1: settings.betas[0],
          beta2: settings.betas[1],
          epsilon: settings.eps,
          weightDecay: settings.weight_decay,
          step: step + 1,
        });
        const expected = await file.readFloat32(`${names[i]}/${step + 1}`);
        expect(relativeError(await parameter.read(), expected)).toBeLessThan(1e-6);
        gradients[i]!.dispose();
      }
    }
    for (const tensor of [...parameters, ...states.flatMap(({ mean, variance }) => [mean, variance])]) tensor.dispose();
    await file.close();
  });
});
