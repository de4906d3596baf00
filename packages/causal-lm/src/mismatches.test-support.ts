import type { Tensor } from "@dflash/ops";

function largest(values: Float32Array): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Says which tensors are off by more than 1e-4 of the expected one's largest value, in absolute error. */
export async function mismatches(
  computed: Readonly<Record<string, Tensor>>,
  expected: (name: string) => Promise<Float32Array>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, tensor] of Object.entries(computed)) {
    const values = await tensor.read();
    const right = await expected(name);
    const error = largest(right.map((value, i) => value - values[i]!)) / largest(right);
    if (!(error <= 1e-4)) wrong.push(`${name} is off by ${error}`);
  }
  return wrong;
}
