import { type FieldGroups } from "./field.ts";
import { valueSchema } from "./valueSchema.ts";

/** The JSON Schema of a command's config file, for editors that complete and check it. */
export function configSchema(title: string, groups: FieldGroups): Record<string, unknown> {
  const fields = Object.values(groups).flatMap((group) => Object.entries(group));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title,
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string", description: "this schema, for the editor" },
      ...Object.fromEntries(
        fields.map(([name, field]) => [
          name,
          {
            description: field.unset === undefined ? field.about : `${field.about} (default: ${field.unset})`,
            ...valueSchema(field),
            // A default in words is a folder of this machine, or none at all.
            ...(field.unset === undefined && field.standard !== null && { default: field.standard }),
          },
        ]),
      ),
    },
  };
}
