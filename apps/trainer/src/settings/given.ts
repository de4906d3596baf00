/** A value that somebody gave for a setting. */
export interface GivenValue {
  readonly value: unknown;
  /** Where, for messages: `--steps`, or `train.yaml:3: steps`. */
  readonly place: string;
  /** The folder that relative paths mean. */
  readonly folder: string;
}

/** Given values by the setting's name; names need not be of settings. */
export type Given = ReadonlyMap<string, GivenValue>;
