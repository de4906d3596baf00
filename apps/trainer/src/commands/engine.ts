import { installTensorflow, type TensorflowSource } from "@dflash/engine";
import { Command } from "commander";
import { fromCaller } from "../callerFolder.ts";
import { showProgress } from "../showProgress.ts";

interface InstallFlags {
  pip?: string | true;
  python?: string | true;
  wheel?: string;
  libtensorflow?: string;
  nodeHeaders?: string;
}

/** `dflash engine install tensorflow`: the native binding that the tensorflow engines need. */
export function engineCommand(): Command {
  const install = new Command("install")
    .description("build TensorFlow's native binding against a TensorFlow of your own and check it (Linux)")
    .argument("<engine>", "tensorflow, which serves tensorflow-gpu too")
    .option("--pip [requirement]", "download a wheel with pip (default: tensorflow-cpu)")
    .option("--python [interpreter]", "use the TensorFlow installed for a Python (default: python3); the way to a GPU")
    .option("--wheel <file>", "use a wheel file; needs no network")
    .option("--libtensorflow <dir>", "use a folder with TensorFlow's library and headers")
    .option("--node-headers <dir>", "folder with Node's node_api.h (default: looked for)")
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash engine install tensorflow
  pnpm dflash engine install tensorflow --wheel tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl
  python3 -m venv tf && tf/bin/pip install 'tensorflow[and-cuda]' && \\
    pnpm dflash engine install tensorflow --python tf/bin/python   # for tensorflow-gpu`,
    )
    .action(async (engine: string, flags: InstallFlags) => {
      if (engine !== "tensorflow")
        throw new Error(`engine ${engine}: nothing to install; only tensorflow needs a native binding`);
      const progress = showProgress();
      try {
        const { version, gpu, binding, libraries } = await installTensorflow({
          from: sourceOf(flags),
          resolveFrom: import.meta.dirname,
          ...(flags.nodeHeaders === undefined ? {} : { nodeHeaders: fromCaller(flags.nodeHeaders) }),
          onProgress: progress.say,
        });
        progress.end();
        console.log(`TensorFlow ${version} works${gpu ? " and sees a GPU" : ""}: a product and a gradient are right`);
        console.log(`binding    ${binding}`);
        console.log(`libraries  ${libraries} (keep them: the binding loads them from there)`);
      } finally {
        progress.end();
      }
    });
  return new Command("engine").description("set up tensor engines").addCommand(install);
}

/** The one source that the flags name; pip's tensorflow-cpu when they name none. */
function sourceOf({ pip, python, wheel, libtensorflow }: InstallFlags): TensorflowSource {
  const named: TensorflowSource[] = [];
  if (pip !== undefined) named.push({ pip: pip === true ? "tensorflow-cpu" : pip });
  if (python !== undefined) named.push({ python: python === true ? "python3" : python });
  if (wheel !== undefined) named.push({ wheel: fromCaller(wheel) });
  if (libtensorflow !== undefined) named.push({ libtensorflow: fromCaller(libtensorflow) });
  if (named.length > 1) throw new Error("give one of --pip, --python, --wheel and --libtensorflow");
  return named[0] ?? { pip: "tensorflow-cpu" };
}
