import type { GpuProgramSource } from "./gpuPrograms.ts";

/** A kernel that is ready to run. */
export interface CompiledProgram {
  readonly pipeline: GPUComputePipeline;
  /** Its arrays in their order, then the numbers, at an offset that each dispatch gives. */
  readonly layout: GPUBindGroupLayout;
  /** Writes the numbers, in their order, at a byte offset. */
  readonly write: (view: DataView, offset: number, numbers: readonly number[]) => void;
}

/** Compiles a kernel, with the declarations of its arguments put before it. */
export function compileProgram(device: GPUDevice, { name, arrays, numbers, code }: GpuProgramSource): CompiledProgram {
  const declared = Object.entries(arrays).map(([array, content], binding) => ({
    binding,
    array,
    written: content.startsWith("write "),
    element: content.replace("write ", ""),
  }));
  const fields = Object.entries(numbers);
  const declarations = [
    ...declared.map(
      ({ binding, array, written, element }) =>
        `@group(0) @binding(${binding}) var<storage, ${written ? "read_write" : "read"}> ${array}: array<${element}>;`,
    ),
    `struct Numbers { ${fields.map(([field, type]) => `${field}: ${type}`).join(", ") || "unused: u32"} }`,
    `@group(0) @binding(${declared.length}) var<uniform> a: Numbers;`,
  ];
  const compute = GPUShaderStage.COMPUTE;
  const layout = device.createBindGroupLayout({
    entries: [
      ...declared.map(({ binding, written }): GPUBindGroupLayoutEntry => {
        return { binding, visibility: compute, buffer: { type: written ? "storage" : "read-only-storage" } };
      }),
      { binding: declared.length, visibility: compute, buffer: { type: "uniform", hasDynamicOffset: true } },
    ],
  });
  const module = device.createShaderModule({ label: name, code: [...declarations, code].join("\n") });
  const pipeline = device.createComputePipeline({
    label: name,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  return {
    pipeline,
    layout,
    write(view, offset, values) {
      for (const [i, [, type]] of fields.entries()) {
        if (type === "f32") view.setFloat32(offset + 4 * i, values[i]!, true);
        else view.setUint32(offset + 4 * i, values[i]!, true);
      }
    },
  };
}
