/** What the page imports. */
export * from "./index.ts";
export * from "./spans/index.ts";
export * from "./statistics/index.ts";
