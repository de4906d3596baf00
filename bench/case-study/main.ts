/**
 * Prints docs/case-study.md. Runs that are there are not made again, so that it can be stopped and goes on; give another folder,
 * or remove it, to measure anew. Arguments: rounds, steps, folder, and a sentence about the machine.
 */
import { fileURLToPath } from "node:url";
import { runStudy } from "./study.ts";
import { writeStudy } from "./writeStudy.ts";

const path = (place: string): string => fileURLToPath(new URL(place, import.meta.url));
const [rounds = "3", steps = "60", folder = path("../../runs/case-study"), note = ""] = process.argv.slice(2);
const options = { rounds: Number(rounds), steps: Number(steps), folder, note };
process.stdout.write(writeStudy(await runStudy(options), options));
