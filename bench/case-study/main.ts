/**
 * Prints docs/case-study.md. Runs that are there are not made again, so that it can be stopped and goes on; give another folder,
 * or remove it, to measure anew. Arguments: rounds, steps, folder, and a sentence about the machine.
 */
import { fileURLToPath } from "node:url";
import { engineProblem } from "@dflash/engine";
import { runStudy } from "./study.ts";
import { writeStudy } from "./writeStudy.ts";

const path = (place: string): string => fileURLToPath(new URL(place, import.meta.url));
const [rounds = "3", steps = "60", folder = path("../../runs/case-study"), note = ""] = process.argv.slice(2);
const options = { rounds: Number(rounds), steps: Number(steps), folder, note };
const study = await runStudy({ ...options, engine: "wasm" });
const problem = await engineProblem("tensorflow", { resolveFrom: path("../../apps/trainer") });
if (problem !== null) console.error(`tensorflow: not run (${problem})`);
const other = problem === null ? await runStudy({ ...options, engine: "tensorflow" }) : null;
process.stdout.write(writeStudy(study, other, options));
