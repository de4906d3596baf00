import { runCommand } from "../runCommand.mjs";

const invocation = /^(?:npx --yes )?pnpm(?:@[\d.]+)? (.+)$/;
/** Of pnpm's own commands those that the documentation uses. */
const ownCommands = new Set(["add", "install", "exec", "changeset", "--recursive"]);

/**
 * What is wrong with the `pnpm` lines of a shell block: scripts, commands of dflash, or options that don't exist.
 * `scriptsOf` gives the scripts of a package of the workspace by its name, and those of the root by none.
 */
export async function checkCommands({ code, scriptsOf, root }) {
  const faults = [];
  for (const line of code.split("\n")) {
    const words = invocation.exec(line.replace(/ #.*/, "").trim())?.[1].split(/\s+/);
    if (words === undefined) continue;
    const [script, ...rest] = words;
    if (script === "dflash" || script === "train") {
      faults.push(...(await checkDflash(script === "train" ? ["train", ...rest] : rest, root)));
    } else {
      const [name, wanted] = script === "--filter" ? rest : [undefined, script];
      if (!ownCommands.has(wanted) && !scriptsOf(name)?.[wanted])
        faults.push(`\`${line.trim()}\`: ${name ?? "the root"} has no script ${wanted}`);
    }
  }
  return faults;
}

const helps = new Map();
const help = (command, root) => {
  const key = command.join(" ");
  if (!helps.has(key)) helps.set(key, runCommand("pnpm", ["--silent", "dflash", ...command, "--help"], { cwd: root }));
  return helps.get(key);
};

async function checkDflash(words, root) {
  const command = [];
  let text = await help(command, root);
  for (const word of words) {
    if (!text.includes("\nCommands:")) break;
    if (word.startsWith("-")) break;
    if (!new RegExp(`^ {2}${word}\\b`, "m").test(text.slice(text.indexOf("\nCommands:"))))
      return [`dflash ${words.join(" ")}: there is no command ${[...command, word].join(" ")}`];
    command.push(word);
    text = await help(command, root);
  }
  // What stands behind -- is another program's.
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const options = own.filter((word) => word.startsWith("--")).map((word) => word.replace(/=.*/, ""));
  return options
    .filter((option) => !new RegExp(`${option}(?![\\w-])`).test(text))
    .map((option) => `dflash ${words.join(" ")}: ${command.join(" ")} has no option ${option}`);
}
