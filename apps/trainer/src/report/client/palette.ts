import type { Stage } from "./stages.ts";

/** Shades of a family from strong to light, by theme. */
const shades = {
  light: {
    data: ["#3f8f6b", "#7db79b"],
    target: ["#2c6cb0", "#6d9fd3", "#a5c5e6", "#cadcef"],
    wait: ["#c3c5c9", "#d9dadd"],
    drafter: ["#c05621", "#dd8a4b", "#ecb282", "#a8432f", "#d3735c", "#f3d0b0", "#8c5a2b", "#e8c39e"],
    other: ["#7f78a8", "#a9a4c7", "#dedde4"],
  },
  dark: {
    data: ["#57b189", "#3d7d62"],
    target: ["#5a9ae0", "#3f72ab", "#2f5580", "#26415f"],
    wait: ["#50545b", "#3c4046"],
    drafter: ["#e07b41", "#b5622f", "#8f5130", "#d06a56", "#9c4c3d", "#6d4229", "#c19061", "#7c6047"],
    other: ["#8f88bd", "#655f8e", "#3a3846"],
  },
} as const;

/** Whether the page is dark. */
export const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark";

/** A colour of the page's style. */
export const styleColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Colours of stages: the largest of each family has its strongest shade. */
export function stageColors(stages: readonly Stage[]): Map<string, string> {
  const theme = shades[isDark() ? "dark" : "light"];
  const colors = new Map<string, string>();
  const taken = new Map<string, number>();
  for (const { name, family } of stages.toSorted((a, b) => b.ms - a.ms)) {
    const place = taken.get(family) ?? 0;
    const known = theme[family];
    taken.set(family, place + 1);
    colors.set(name, known[Math.min(place, known.length - 1)]!);
  }
  return colors;
}
