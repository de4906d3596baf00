import type { RunData } from "../runData.ts";
import { heading } from "./breakdown.ts";
import { element } from "./element.ts";

const text = (value: unknown): string =>
  value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);

/** The runs' settings; of two runs those that differ come first. */
export function settings(runs: readonly RunData[]): HTMLElement {
  const names = [...new Set(runs.flatMap(({ config }) => Object.keys(config)))];
  const rows = names.map((name) => {
    const values = runs.map(({ config }) => text(config[name]));
    return { name, values, differs: values.some((value) => value !== values[0]) };
  });
  return element(
    "section",
    { class: "settings" },
    heading("Settings", runs.length > 1 ? "those that differ first" : "as the run resolved them"),
    element(
      "div",
      { class: "scroll" },
      element(
        "table",
        {},
        element(
          "tbody",
          {},
          ...rows
            .toSorted((a, b) => Number(b.differs) - Number(a.differs))
            .map(({ name, values, differs }) =>
              element(
                "tr",
                differs ? { class: "differs" } : {},
                element("th", { scope: "row" }, name),
                ...values.map((value) => element("td", {}, value)),
              ),
            ),
        ),
      ),
    ),
  );
}
