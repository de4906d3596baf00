import { Document, isMap, isScalar } from "yaml";
import type { Given } from "./given.ts";

/** Settings as a config file, with a comment that says where each one that was given comes from. */
export function printConfig(values: Readonly<Record<string, unknown>>, given: Given): string {
  const document = new Document(values);
  if (isMap(document.contents))
    for (const { key, value } of document.contents.items) {
      const place = isScalar(key) ? given.get(String(key.value))?.place : undefined;
      if (place !== undefined && isScalar(value)) value.comment = ` ${place}`;
    }
  return document.toString({ lineWidth: 0 });
}
