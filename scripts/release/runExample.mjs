import { runCommand } from "../runCommand.mjs";

/** Runs a README's example, with the folders of a target model and of a drafter as arguments. */
export async function runExample({ project, manifest, node, model, drafter }) {
  const printed = await runCommand(node, ["example.mjs", model, drafter], { cwd: project });
  if (printed === "") throw new Error(`${manifest.name}: the README's example prints nothing`);
}
