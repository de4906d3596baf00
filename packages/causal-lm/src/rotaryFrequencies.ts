import { rotaryWavelengths } from "@dflash/ops";
import type { Rope } from "./rope.ts";

const { fround } = Math;

/** Radians a position of each pair of dimensions, [headDim / 2]; every operation is rounded to float32 as PyTorch's are. */
export function rotaryFrequencies(rope: Rope, headDim: number): Float32Array {
  const wavelengths = rotaryWavelengths(rope.theta, headDim);
  const plain = wavelengths.map((wavelength) => 1 / wavelength);
  if (rope.type === "linear") return plain.map((frequency) => frequency / rope.factor);
  if (rope.type === "llama3") return plain.map((frequency) => llama3Frequency(frequency, rope));
  if (rope.type === "yarn") return yarnFrequencies(wavelengths, rope, headDim);
  return plain;
}

/** Llama 3.1: long waves are slowed by `factor`, short ones kept, those between blended. */
function llama3Frequency(frequency: number, rope: Extract<Rope, { type: "llama3" }>): number {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalPositions } = rope;
  const wavelength = fround(fround(2 * Math.PI) / frequency);
  if (wavelength > originalPositions / low) return frequency / factor;
  if (wavelength < originalPositions / high) return frequency;
  const smooth = fround(fround(fround(originalPositions / wavelength) - low) / (high - low));
  return fround(fround(fround(1 - smooth) * frequency) / factor) + fround(smooth * frequency);
}

/** YaRN (arXiv 2309.00071): dimensions that turn often in the original context are kept, slow ones interpolated, a ramp between. */
function yarnFrequencies(
  wavelengths: Float32Array,
  rope: Extract<Rope, { type: "yarn" }>,
  headDim: number,
): Float32Array {
  const dimension = (turns: number): number =>
    (headDim * Math.log(rope.originalPositions / (turns * 2 * Math.PI))) / (2 * Math.log(rope.theta));
  const [from, to] = [dimension(rope.betaFast), dimension(rope.betaSlow)];
  const low = Math.max(rope.truncate ? Math.floor(from) : from, 0);
  const high = Math.min(rope.truncate ? Math.ceil(to) : to, headDim - 1);
  const width = low === high ? 0.001 : high - low;
  return wavelengths.map((wavelength, i) => {
    const ramp = Math.min(Math.max(fround(fround(i - low) / fround(width)), 0), 1);
    const kept = fround(1 - ramp);
    const interpolated = fround(1 / fround(rope.factor * wavelength));
    return fround(interpolated * fround(1 - kept)) + fround(fround(1 / wavelength) * kept);
  });
}
