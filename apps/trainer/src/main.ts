import { readFileSync } from "node:fs";
import { Command } from "commander";
import { outliveTerminal } from "./outliveTerminal.ts";
import { reportFailure } from "./reportFailure.ts";

/** Commander's message and its suggestion, `error: …` and `(Did you mean …?)`, in one line. */
const oneLine = (text: string): string =>
  `${text
    .trim()
    .replace(/^error: /, "dflash: ")
    .replaceAll("\n", " ")}\n`;

/** Only the named one is loaded: engines and models take over a second, which one command need not wait for because of another. */
const commands: (readonly [name: string, load: () => Promise<Command>])[] = [
  ["train", async () => (await import("./commands/train.ts")).trainCommand()],
  ["eval", async () => (await import("./commands/eval.ts")).evalCommand()],
  ["generate", async () => (await import("./commands/generate.ts")).generateCommand()],
  ["regenerate", async () => (await import("./commands/regenerate.ts")).regenerateCommand()],
  ["capture", async () => (await import("./commands/capture.ts")).captureCommand()],
  ["export", async () => (await import("./commands/export.ts")).exportCommand()],
  ["log", async () => (await import("./commands/log.ts")).logCommand()],
  ["demo", async () => (await import("./commands/demo.ts")).demoCommand()],
  ["bench", async () => (await import("./commands/bench.ts")).benchCommand()],
  ["report", async () => (await import("./commands/report.ts")).reportCommand()],
  ["data", async () => (await import("./commands/data.ts")).dataCommand()],
  ["engine", async () => (await import("./commands/engine.ts")).engineCommand()],
  ["doctor", async () => (await import("./commands/doctor.ts")).doctorCommand()],
];

outliveTerminal();

// Whoever reads may go; unheard, that would end a run.
process.stderr.on("error", () => {});
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A log's output hears and names what fails by itself.
  if (error.code !== "EPIPE" && process.stdout.listenerCount("error") === 1) reportFailure(error);
});

// Node's own end where nothing is left to do while something is still waited for, such as a module that never loads.
process.on("exit", () => {
  if (process.exitCode === 13)
    console.error("dflash: ended before it was done: something that it waited for never came");
});

const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const program = new Command("dflash")
  .version(manifest.version, "--version", "print the version")
  .description("Trains a DFlash drafter for a frozen target model and says where every millisecond went.")
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) });
const named = commands.filter(([name]) => name === process.argv[2]);

try {
  for (const [, load] of named.length > 0 ? named : commands) {
    const command = (await load()).copyInheritedSettings(program);
    for (const inner of command.commands) inner.copyInheritedSettings(command);
    program.addCommand(command);
  }
  // A command that only holds others, named alone, asks which there are.
  const [asked = program, place] = named.length > 0 ? [program.commands[0], 3] : [program, 2];
  if (asked.commands.length > 0 && process.argv.length === place) asked.outputHelp();
  else await program.parseAsync();
} catch (error) {
  reportFailure(error);
}
