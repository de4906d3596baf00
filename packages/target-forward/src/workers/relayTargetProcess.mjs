// As runTargetWorker.mjs does.
import { register } from "tsx/esm/api";

register();
await import("./relayTargetProcess.ts");
