import { configureGlobal } from "fast-check";

// A gate must give the same answer twice, so property tests draw the same cases every time; the long lane draws new ones.
if (process.env["DFLASH_LONG"] !== "1") configureGlobal({ seed: 20_261_130 });
