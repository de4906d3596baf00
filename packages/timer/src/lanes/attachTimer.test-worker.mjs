// A worker in TypeScript needs its loader registered first on Node 20.
import { register } from "tsx/esm/api";

register();
await import("./attachTimer.test-worker.ts");
