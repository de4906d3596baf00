import { graphicsNodes, mayHaveGpu } from "../mayHaveGpu.ts";

/** What a driver says of its GPU; newer than the types that tfjs-core brings. */
export interface AdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  readonly isFallbackAdapter: boolean;
}

declare global {
  interface GPUAdapter {
    readonly info: AdapterInfo;
  }
}

/** A GPU that Dawn offers. */
export interface OpenedAdapter {
  readonly gpu: GPU;
  readonly device: GPUDevice;
  readonly info: AdapterInfo;
  /** Whether the "GPU" is a program that runs on the CPU. */
  readonly software: boolean;
}

/** How to choose among the GPUs. */
export interface AdapterChoice {
  /** Part of a GPU's name; the fastest unless given. */
  adapter?: string | undefined;
  /** Whether a GPU in software will do, which is far slower than the `wasm` engine. */
  allowSoftware: boolean;
}

const features = ["timestamp-query"] as const;

/** Limits that a device has only as much of as it asks for. */
const limits = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupsPerDimension",
] as const;

/** Dawn by its options: one that is collected while a thread of its driver runs takes the process with it. */
const opened = new Map<string, GPU>();

/** Opens a device on a GPU with all that it offers. Throws one line with the remedy where there is none. */
export async function openAdapter(
  create: (options: string[]) => GPU,
  { adapter: name, allowSoftware }: AdapterChoice,
): Promise<OpenedAdapter> {
  const option = name === undefined ? "" : `adapter=${name}`;
  const gpu = opened.get(option) ?? create(option === "" ? [] : [option]);
  opened.set(option, gpu);
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) {
    const which = name === undefined ? "no GPU" : `no GPU whose name has "${name}"`;
    throw new Error(`webgpu: ${which} here${remedy()}`);
  }
  const { info } = adapter;
  const software = info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(describe(info));
  if (software && !allowSoftware) throw new Error(`webgpu: no GPU here, only ${describe(info)}, which runs on the CPU`);
  const device = await adapter.requestDevice({
    requiredFeatures: features.filter((feature) => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(limits.map((limit) => [limit, adapter.limits[limit]])),
  });
  return { gpu, device, info, software };
}

/** What a GPU that is there may lack; nothing helps where there is none. */
function remedy(): string {
  if (process.platform !== "linux") return "";
  return mayHaveGpu(graphicsNodes)
    ? " that Vulkan knows; it takes the GPU's Vulkan driver and a loader (Debian: libvulkan1)"
    : `: there is none of ${graphicsNodes.join(", ")}`;
}

/** A GPU by its maker and kind, and what its driver says of itself. */
export function describe({ description, vendor, architecture }: AdapterInfo): string {
  const name = `${vendor} ${architecture}`.trim() || "an unnamed GPU";
  return description === "" ? name : `${name} (${description})`;
}
