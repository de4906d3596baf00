import { fileURLToPath } from "node:url";

/** The folder of parity cases. */
export const fixtures: string =
  process.env["DFLASH_FIXTURES"] ?? fileURLToPath(new URL("../../../fixtures", import.meta.url));
