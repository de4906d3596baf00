/** Runs a training step of the test model on jax-js, another library, for every line of standard input; `--threads` of it. */
import { parseArgs } from "node:util";
import { answerSteps } from "./answerSteps.ts";
import { provideBrowserGlobals } from "./provideBrowserGlobals.ts";

const { values } = parseArgs({ options: { threads: { type: "string", default: "2" } } });
provideBrowserGlobals(Number(values.threads));
const { createJaxLanguageModelStep } = await import("./jaxLanguageModel.ts");
await answerSteps(await createJaxLanguageModelStep());
process.exit(0);
