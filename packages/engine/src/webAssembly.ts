// The part of WebAssembly that the engine uses: neither ES2023 nor @types/node declares it.

export interface WasmMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
}

/** By name; only functions of numbers are ever looked up. */
export type WasmExports = Readonly<Record<string, (...values: number[]) => number>>;

interface WebAssemblyApi {
  Memory: new (...parts: never) => WasmMemory;
  Module: new (bytes: Uint8Array) => object;
  validate: (bytes: Uint8Array) => boolean;
  Instance: new (module: object, imports: object) => { readonly exports: WasmExports };
}

// oxlint-disable-next-line no-unsafe-type-assertion -- the declaration that is missing
export const webAssembly: WebAssemblyApi = Reflect.get(globalThis, "WebAssembly") as WebAssemblyApi;
