/** What target workers import: `loadCausalLM`, whose options are the model's folder. */
export { loadCausalLM as default } from "./causalLM.ts";
