import { Command } from "commander";
import { trainCommand } from "./commands/train.ts";
import { reportFailure } from "./reportFailure.ts";

const program = new Command("dflash")
  .description("Trains a DFlash drafter for a frozen target model and says where every millisecond went.")
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "dflash: ")) })
  .addCommand(trainCommand());

try {
  await program.parseAsync();
} catch (error) {
  reportFailure(error);
}
