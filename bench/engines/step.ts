/** Something to measure: one training step. */
export interface Step {
  /** Runs it and returns its loss, read back from the engine. */
  run(): Promise<number>;
}
