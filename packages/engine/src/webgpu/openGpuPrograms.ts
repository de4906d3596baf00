import { compileProgram, type CompiledProgram } from "./compileProgram.ts";
import type { GpuProgram, GpuPrograms } from "./gpuPrograms.ts";
import type { WebgpuBackend } from "./tfjsBackend.ts";

/** The programs with what their engine needs. */
export interface CountedGpuPrograms extends GpuPrograms {
  /** Programs run so far. */
  readonly dispatched: () => number;
  /** Brings the numbers of all that was run to the device; due before each submit. */
  readonly flush: () => void;
}

/** Dispatches that are submitted together. */
export const batchSize = 64;

/** Bytes between the numbers of two dispatches: what every device can align them to. */
const stride = 256;

/** Opens WebGPU behind tfjs's backend, whose command queue it shares. */
export function openGpuPrograms(backend: WebgpuBackend, device: GPUDevice): CountedGpuPrograms {
  const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
  const uniforms = device.createBuffer({ size: stride * batchSize, usage });
  const numbersOf = new DataView(new ArrayBuffer(stride * batchSize));
  const compiled = new WeakMap<GpuProgram, CompiledProgram>();
  let slots = 0;
  let dispatched = 0;

  const bufferOf = (dataId: object): GPUBuffer => {
    const record = backend.tensorMap.get(dataId);
    if (!record.resource) backend.uploadToGPU(dataId);
    backend.commandQueueOwnedIds.add(dataId);
    return record.resource!;
  };

  return {
    output(shape, dtype) {
      const extents = [...shape];
      return { dataId: backend.write(null, extents, dtype), shape: extents, dtype };
    },
    upload: (values) => ({
      dataId: backend.write(values, [values.length], values instanceof Int32Array ? "int32" : "float32"),
    }),
    free: ({ dataId }) => void backend.disposeData(dataId),
    compile(source) {
      const program = { name: source.name };
      compiled.set(program, compileProgram(device, source));
      return program;
    },
    run(program, arrays, numbers, [x, y = 1, z = 1]) {
      dispatched++;
      if (x * y * z === 0) return;
      const { pipeline, layout, write } = compiled.get(program)!;
      const entries: GPUBindGroupEntry[] = arrays.map(({ dataId }, binding) => {
        return { binding, resource: { buffer: bufferOf(dataId) } };
      });
      entries.push({ binding: arrays.length, resource: { buffer: uniforms, size: stride } });
      const pass = backend.nextPass();
      const offset = stride * slots++;
      write(numbersOf, offset, numbers);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout, entries }), [offset]);
      pass.dispatchWorkgroups(x, y, z);
      if (++backend.dispatchCountInPass < batchSize) return;
      backend.endComputePassEncoder();
      backend.submitQueue();
    },
    dispatched: () => dispatched,
    flush() {
      if (slots > 0) device.queue.writeBuffer(uniforms, 0, numbersOf.buffer, 0, stride * slots);
      slots = 0;
    },
  };
}
