import { availableParallelism, totalmem } from "node:os";
import type { EngineName } from "@dflash/engine";
import { Command, Option } from "commander";
import { fromCaller } from "../callerFolder.ts";
import { above } from "../numberArguments.ts";
import { addFlags } from "../settings/addFlags.ts";
import { givenFlags } from "../settings/givenFlags.ts";
import { readConfigFile } from "../settings/readConfigFile.ts";
import { readTrainSettings } from "../train/trainConfig.ts";
import { trainFieldGroups } from "../train/trainFields.ts";

/** Flags that are no settings of a run. */
interface OtherFlags {
  check?: EngineName;
  config?: string;
  memory?: number;
}

/** `dflash doctor`: what this machine offers, what would make it faster, and which batches fit. */
export function doctorCommand(): Command {
  const { "Target and data": data, Engine, Drafter } = trainFieldGroups;
  const command = new Command("doctor")
    .description("say which tensor engines work here, how fast, what the missing ones lack, and which batches fit")
    .option("--config <file>", "settings of the run to be fitted, as for train")
    .option("--memory <gib>", "memory that a run may take, GiB (default: four fifths of what is free)", above(0))
    .addOption(new Option("--check <engine>").hideHelp());
  addFlags(command, { "Target and data": data, Engine, Drafter });
  return command
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash doctor
  pnpm dflash doctor --target ./my-model --data ./chats.jsonl --max-length 2048 --block-size 16
  pnpm dflash doctor --config train.yaml --memory 16`,
    )
    .action(async ({ check, config, memory }: OtherFlags) => {
      if (check !== undefined) {
        const { checkEngine } = await import("../doctor/checkEngine.ts");
        console.log(JSON.stringify(await checkEngine(check)));
        return;
      }
      const file = config === undefined ? [] : readConfigFile(fromCaller(config));
      const settings = readTrainSettings(new Map([...file, ...givenFlags(command, ["check", "config", "memory"])]));
      const gib = (totalmem() / 2 ** 30).toFixed(1);
      console.log(
        `node  ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${gib} GiB of memory`,
      );
      const { examineEngines } = await import("../doctor/examineEngines.ts");
      const engine = await examineEngines();
      console.log(engine === null ? "no engine works here" : `train takes ${engine} unless told otherwise`);
      if (engine === null) return;
      const { examineBatches } = await import("../doctor/examineBatches.ts");
      await examineBatches(settings, memory === undefined ? null : memory * 2 ** 30);
    });
}
