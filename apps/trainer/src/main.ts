import { Command } from "commander";
import { captureCommand } from "./commands/capture.ts";
import { dataCommand } from "./commands/data.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { engineCommand } from "./commands/engine.ts";
import { exportCommand } from "./commands/export.ts";
import { logCommand } from "./commands/log.ts";
import { trainCommand } from "./commands/train.ts";
import { reportFailure } from "./reportFailure.ts";

/** Commander's message and its suggestion, `error: …` and `(Did you mean …?)`, in one line. */
const oneLine = (text: string): string =>
  `${text
    .trim()
    .replace(/^error: /, "dflash: ")
    .replaceAll("\n", " ")}\n`;

const program = new Command("dflash")
  .description("Trains a DFlash drafter for a frozen target model and says where every millisecond went.")
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) });
for (const command of [
  trainCommand(),
  captureCommand(),
  exportCommand(),
  logCommand(),
  dataCommand(),
  engineCommand(),
  doctorCommand(),
])
  program.addCommand(command.copyInheritedSettings(program));

try {
  await program.parseAsync();
} catch (error) {
  reportFailure(error);
}
