// A worker in TypeScript does not start on Node 20 before its loader is registered; the built package starts runTargetWorker.js.
import { register } from "tsx/esm/api";

register();
await import("./runTargetWorker.ts");
