import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTensorflowPackage } from "../findTensorflowPackage.ts";
import { compileBinding } from "./compileBinding.ts";
import { findLibtensorflow, type FindLibtensorflowOptions, type TensorflowSource } from "./findLibtensorflow.ts";
import { partialName, removeAbandoned } from "./partialFiles.ts";
import { verifyBinding, type VerifiedBinding } from "./verifyBinding.ts";

/** Settings of {@link installTensorflow}. */
export interface InstallTensorflowOptions extends Pick<FindLibtensorflowOptions, "cache"> {
  /** Where the TensorFlow library comes from. */
  readonly from: TensorflowSource;
  /** Folder to look for `@tensorflow/tfjs-node-gpu` in first, as `startEngine` does. */
  readonly resolveFrom?: string;
  /** Folder with Node's C headers (`node_api.h`); looked for unless given. */
  readonly nodeHeaders?: string;
  /** Called with a line about each stage, and with what pip prints. */
  readonly onProgress?: (line: string) => void;
}

/** What {@link installTensorflow} built and checked. */
export interface InstalledTensorflow extends VerifiedBinding {
  /** The binding's file. */
  readonly binding: string;
  /** Folder of the TensorFlow libraries that it needs from now on. */
  readonly libraries: string;
}

/**
 * Builds the native binding of `@tensorflow/tfjs-node-gpu` against a TensorFlow of one's own and checks it by a product and a
 * gradient in a process of its own. A binding that was there stays when the new one can't be built or does not work.
 * Linux only; elsewhere the package's own install script, which downloads one, is the way.
 * @throws Error of one line that says what is missing.
 */
export async function installTensorflow({
  from,
  resolveFrom,
  nodeHeaders,
  cache,
  onProgress = () => {},
}: InstallTensorflowOptions): Promise<InstalledTensorflow> {
  const packageFolder = findTensorflowPackage(resolveFrom);
  if (process.platform !== "linux")
    throw new Error(
      `tensorflow: its binding is built on Linux only, not on ${process.platform}; to download one: cd ${packageFolder} && npm run install`,
    );
  const library = await findLibtensorflow(from, { ...(cache === undefined ? {} : { cache }), onProgress });
  const folder = join(packageFolder, "lib/napi-v8");
  const binding = join(folder, "tfjs_binding.node");
  const [built, former] = [`${binding}.${partialName()}`, `${binding}.former`];
  await mkdir(folder, { recursive: true });
  await removeAbandoned(folder);
  // An installation was killed before it knew whether its own binding works.
  if (existsSync(former)) await rename(former, binding);
  try {
    onProgress(`compiling the binding against ${dirname(library.main)}`);
    await compileBinding({
      packageFolder,
      library,
      output: built,
      ...(nodeHeaders === undefined ? {} : { nodeHeaders }),
    });
    onProgress("checking it");
    // Renamed and never written over: pnpm may share the file that is there with its store.
    if (existsSync(binding)) await rename(binding, former);
    await rename(built, binding);
    const verified = await verifyBinding(packageFolder).catch(async (error: unknown) => {
      await (existsSync(former) ? rename(former, binding) : rm(binding));
      throw error;
    });
    return { ...verified, binding, libraries: dirname(library.main) };
  } finally {
    for (const leftover of [built, former]) await rm(leftover, { force: true });
  }
}
