import type { HeaderRecord } from "@dflash/log-formatter";

type Sections = HeaderRecord["sections"];

/**
 * Sections that run in other lanes than the steps, in threads beside them: no part of the steps' time. A loop without the trainer's
 * queue has none.
 */
export function sectionsBeside(sections: Sections): Set<string> {
  const own = sections.find(({ name }) => name === "queue/wait")?.lane;
  if (own === undefined) return new Set();
  const laneOf = ({ lane, parent }: Sections[number]): string => {
    const outer = sections.find(({ name }) => name === parent);
    return outer ? laneOf(outer) : lane;
  };
  return new Set(sections.filter((section) => laneOf(section) !== own).map(({ name }) => name));
}
