/** A node of V8's call tree. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly scriptId: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[] | undefined;
  readonly hitCount?: number | undefined;
}

/** A V8 CPU profile; times in µs of the machine's monotonic clock. */
export interface CpuProfile {
  /** The call tree. */
  readonly nodes: readonly ProfileNode[];
  /** First sample, µs. */
  readonly startTime: number;
  /** Last sample, µs. */
  readonly endTime: number;
  /** Node of each sample, and µs since the sample before. */
  readonly samples: readonly number[];
  /** Time since the sample before, µs, for each sample. */
  readonly timeDeltas: readonly number[];
}

/** As the inspector gives it. */
export type V8Profile = Omit<CpuProfile, "samples" | "timeDeltas"> & {
  readonly samples?: readonly number[] | undefined;
  readonly timeDeltas?: readonly number[] | undefined;
};

/** A function's own time in a section. */
export interface FunctionTime {
  /** Name of the function; empty when it has none. */
  readonly name: string;
  /** File that it is in. */
  readonly url: string;
  /** Line that it begins at. */
  readonly line: number;
  /** Time in it alone. */
  readonly ms: number;
}

/** Sampled time of one section, its children's not included. */
export interface SectionProfile {
  /** `rest` is time of the steps in no section. */
  readonly section: string;
  /** Time sampled in it. */
  readonly ms: number;
  /** By their time, longest first. */
  readonly functions: readonly FunctionTime[];
}

/** A V8 profile of some steps. */
export interface StepsProfile {
  /** Longest first. */
  readonly sections: readonly SectionProfile[];
  /** In the .cpuprofile format of Chrome's tools, with each section as a frame under the root. */
  readonly profile: CpuProfile;
}

const frame = (functionName: string): ProfileNode["callFrame"] => ({
  functionName,
  scriptId: "0",
  url: "",
  lineNumber: -1,
  columnNumber: -1,
});

/** Sorts a profile's samples by the section in which they fell; those for which `sectionAt` gives null are left out of the times. */
export function labelProfile(
  { samples: raw = [], timeDeltas = [], ...profile }: V8Profile,
  sectionAt: (us: number) => string | null,
): StepsProfile {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap((node) => (node.children ?? []).map((child): [number, number] => [child, node.id])),
  );
  const root = profile.nodes[0]!;
  const nodes: (Omit<ProfileNode, "children"> & { children: number[] })[] = [{ ...root, id: 1, children: [] }];
  const copies = new Map<string, number>();
  const times = new Map<string, Map<number, number>>();

  function add(key: string, parent: number, callFrame: ProfileNode["callFrame"]): number {
    const id = nodes.length + 1;
    nodes.push({ id, callFrame, children: [] });
    nodes[parent - 1]!.children.push(id);
    copies.set(key, id);
    return id;
  }
  /** The node's copy under its section's frame. */
  function copy(section: string, id: number): number {
    const key = `${id} ${section}`;
    const known = copies.get(key);
    if (known !== undefined) return known;
    if (id === root.id) return add(key, 1, frame(`[${section}]`));
    return add(key, copy(section, parents.get(id)!), byId.get(id)!.callFrame);
  }

  let us = profile.startTime;
  const samples = raw.map((id, i) => {
    us += timeDeltas[i]!;
    const section = sectionAt(us);
    if (section === null) return copy("between steps", id);
    const functions = times.get(section) ?? new Map<number, number>();
    times.set(section, functions);
    // A sample stands for the time to the next one.
    functions.set(id, (functions.get(id) ?? 0) + (timeDeltas[i + 1] ?? 0) / 1000);
    return copy(section, id);
  });

  const sections = [...times].map(([section, functions]): SectionProfile => {
    const merged = new Map<string, FunctionTime>();
    for (const [id, ms] of functions) {
      const { functionName, url, lineNumber } = byId.get(id)!.callFrame;
      const key = `${functionName} ${url}:${lineNumber}`;
      merged.set(key, {
        name: functionName || "(anonymous)",
        url,
        line: lineNumber + 1,
        ms: (merged.get(key)?.ms ?? 0) + ms,
      });
    }
    const sorted = [...merged.values()].toSorted((a, b) => b.ms - a.ms);
    return { section, ms: sorted.reduce((sum, { ms }) => sum + ms, 0), functions: sorted };
  });
  return { sections: sections.toSorted((a, b) => b.ms - a.ms), profile: { ...profile, nodes, samples, timeDeltas } };
}
