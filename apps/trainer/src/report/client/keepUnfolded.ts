const all = (): HTMLDetailsElement[] => [...document.querySelectorAll<HTMLDetailsElement>("details[data-of]")];

/** Draws the page anew and leaves what was unfolded, or in the keyboard's focus, so. Details are known by `data-of`. */
export function keepUnfolded(draw: () => void): void {
  const open = new Map(all().map((each) => [each.dataset["of"], each.open]));
  const focused = document.activeElement?.closest<HTMLDetailsElement>("details[data-of]")?.dataset["of"];
  draw();
  for (const each of all()) {
    each.open = open.get(each.dataset["of"]) ?? each.open;
    if (focused !== undefined && each.dataset["of"] === focused)
      each.querySelector("summary")?.focus({ preventScroll: true });
  }
}
