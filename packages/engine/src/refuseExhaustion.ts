import type { TensorflowBackend } from "./openTensorflowOps.ts";

/** Gives TensorFlow's out-of-memory errors, which name an allocator and a status, one line that says what to lower. */
export function refuseExhaustion(backend: TensorflowBackend & { binding: TensorflowBackend["binding"] }): void {
  const { binding } = backend;
  backend.binding = Object.create(binding, {
    executeOp: {
      value(...args: Parameters<typeof binding.executeOp>) {
        try {
          return binding.executeOp(...args);
        } catch (error) {
          throw explained(error, args[0]);
        }
      },
    },
  });
}

function explained(error: unknown, op: string): unknown {
  const message = error instanceof Error ? error.message : "";
  const [, shape] = /OOM when allocating tensor with shape\s*(\[[^\]]*\])/.exec(message) ?? [];
  if (shape === undefined) return error;
  return new Error(
    `tensorflow: out of memory: ${op} finds no room for a tensor of shape ${shape.replaceAll(",", ", ")}; ` +
      `use fewer tokens a batch or a smaller model`,
    { cause: error },
  );
}
