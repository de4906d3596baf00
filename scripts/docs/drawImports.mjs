/** A Mermaid diagram of who imports whom: a solid arrow for values, a dotted one for types only. */
export function drawImports(imports) {
  const arrow = { values: "-->", types: "-.->" };
  const lines = [...imports].flatMap(([name, used]) =>
    used.size === 0
      ? [`  ${name}`]
      : [...used].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([other, how]) => `  ${name} ${arrow[how]} ${other}`),
  );
  return ["```mermaid", "graph TD", ...lines, "```"].join("\n");
}
