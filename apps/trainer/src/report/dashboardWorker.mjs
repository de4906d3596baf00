// A worker in TypeScript does not start on Node 20 before its loader is registered.
import { register } from "tsx/esm/api";

register();
await import("./serveDashboard.ts");
