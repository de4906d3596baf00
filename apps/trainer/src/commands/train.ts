import { Command } from "commander";
import { fromCaller } from "../callerFolder.ts";
import { addFlags } from "../settings/addFlags.ts";
import { configSchema } from "../settings/configSchema.ts";
import type { Given } from "../settings/given.ts";
import { givenFlags } from "../settings/givenFlags.ts";
import { printConfig } from "../settings/printConfig.ts";
import { readConfigFile } from "../settings/readConfigFile.ts";
import { trainFieldGroups } from "../train/trainFields.ts";

/** Flags that are no settings. */
interface OtherFlags {
  config?: string;
  printConfig?: true;
  printSchema?: true;
  resume?: string;
}

/** `dflash train`: trains a drafter and leaves it, its log and a summary in the run's folder. */
export function trainCommand(): Command {
  const command = new Command("train")
    .description("train a drafter for a frozen target model")
    .option("--config <file>", "settings from a YAML or JSON file; flags come over it")
    .option("--print-config", "print all settings as a config file, and where they come from, and stop")
    .option("--print-schema", "print the JSON Schema of config files, for editors, and stop")
    .option("--resume <dir>", "go on with the run in a folder, from its newest checkpoint");
  addFlags(command, trainFieldGroups);
  return command
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash train
  pnpm dflash train --steps 50 --log-format ndjson > steps.ndjson
  pnpm dflash train --log pretty:stderr --log prometheus:9464 --log tensorboard:runs/tb
  pnpm dflash train --log-format ./my-format.ts --baseline runs/first
  pnpm dflash train --target ./my-model --data ./chats.jsonl --out runs/first
  pnpm dflash train --steps 1000 --print-config > train.yaml
  pnpm dflash train --config train.yaml --learning-rate 5e-4
  pnpm dflash train --resume runs/first`,
    )
    .action(async ({ config, resume, printConfig: isPrinted, printSchema }: OtherFlags) => {
      if (printSchema) {
        const schema = configSchema("Settings of dflash train", trainFieldGroups);
        console.log(JSON.stringify(schema, null, 2));
        return;
      }
      const flags = givenFlags(command, ["config", "printConfig", "printSchema", "resume"]);
      const given: Given = new Map([...(config === undefined ? [] : readConfigFile(fromCaller(config))), ...flags]);
      if (isPrinted) {
        const { readTrainSettings } = await import("../train/trainConfig.ts");
        process.stdout.write(printConfig(readTrainSettings(given).values, given));
        return;
      }
      const { runTraining } = await import("../train/runTraining.ts");
      await runTraining(given, resume);
    });
}
