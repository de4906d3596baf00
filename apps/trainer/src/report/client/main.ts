import type { PageData, RunData } from "../runData.ts";
import { breakdown } from "./breakdown.ts";
import { element } from "./element.ts";
import { learning } from "./learning.ts";
import { keys, listenToKeys } from "./keyboard.ts";
import { keyFigures, verdict } from "./overview.ts";
import { keepUnfolded } from "./keepUnfolded.ts";
import { machinery } from "./machinery.ts";
import { allCharts, clearCharts } from "./openCharts.ts";
import { isDark, stageColors } from "./palette.ts";
import { settings } from "./settings.ts";
import { slowSteps } from "./slowSteps.ts";
import { foldSmall, type Stage, stagesBeside, stagesOf } from "./stages.ts";
import { timeOverSteps } from "./timeOverSteps.ts";

/** Between two questions for newer data, ms. */
const refreshMs = 2000;

const page = document.querySelector("main")!;
let data: PageData = JSON.parse(document.querySelector("#data")!.textContent);

function draw(): void {
  clearCharts();
  const { runs, live } = data;
  if (runs.length === 0) {
    page.replaceChildren(element("p", { class: "quiet" }, "Waiting for the first step…"));
    return;
  }
  const own = foldSmall(runs, runs.map(stagesOf));
  const beside = runs.map(stagesBeside);
  const stages = new Map([...own, ...beside].flat().map((stage) => [stage.name, stage]));
  const colors = stageColors([...stages.values()]);
  const slow = slowSteps(runs, (name) => colorOfPart(name, [...stages.values()], colors));
  page.replaceChildren(
    title(runs, live),
    keyFigures(runs),
    element("div", { class: "verdicts" }, ...runs.map((run) => verdict(run, runs.length > 1))),
    breakdown(runs, own, beside, colors),
    timeOverSteps(runs, own, colors),
    learning(runs),
    machinery(runs),
    ...(slow ? [slow] : []),
    settings(runs),
    foot(runs),
  );
}

/** The colour of the stage that a section lies in. */
function colorOfPart(name: string, stages: readonly Stage[], colors: ReadonlyMap<string, string>): string {
  const has = ({ name: own, parts }: Stage): boolean => own === name || parts.some(has);
  return colors.get(stages.find(has)?.name ?? "") ?? "gray";
}

function title(runs: readonly RunData[], live: boolean): HTMLElement {
  const { config, start, host, attempts } = runs[0]!;
  const setting = (name: string): string => (typeof config[name] === "string" ? config[name] : "");
  const target = setting("target").split("/").at(-1);
  const facts = [
    start.slice(0, 16).replace("T", " "),
    `${setting("engine")} on ${host}`,
    target ? `target ${target}` : "",
    attempts > 1 ? `${attempts} attempts` : "",
  ];
  return element(
    "header",
    { class: "title" },
    element(
      "h1",
      {},
      ...runs.flatMap(({ name }, i) => [
        i > 0 ? " and " : "",
        element("span", runs.length > 1 ? { class: `run${i + 1}` } : {}, name),
      ]),
    ),
    element(
      "p",
      { class: "quiet" },
      live ? element("span", { class: "live" }, "live") : null,
      facts.filter(Boolean).join(" · "),
    ),
  );
}

function foot(runs: readonly RunData[]): HTMLElement {
  const { overheadMs, totalMs, from, steps } = runs[0]!;
  const cost = totalMs > 0 ? ((100 * overheadMs) / totalMs).toFixed(2) : "–";
  const binned = steps > from.length ? `, ${Math.round(steps / from.length)} steps a point` : "";
  return element(
    "footer",
    {},
    element("p", { class: "quiet" }, `Timing itself took ${cost} % of the time${binned}.`),
    element("p", { class: "keys" }, ...keys.map(([key, does]) => element("span", {}, element("kbd", {}, key), does))),
  );
}

function setTheme(isDarkNow: boolean): void {
  document.documentElement.dataset["theme"] = isDarkNow ? "dark" : "light";
  draw();
}
const toggleTheme = (): void => setTheme(!isDark());

/** Draws newer data, unless somebody looks at a value. */
async function refresh(): Promise<void> {
  try {
    const newer: PageData = await (await fetch("data")).json();
    const isRead = allCharts().some((chart) => (chart.cursor.left ?? -1) >= 0);
    say(isRead ? "held" : "live", isRead ? "held while you look, Esc goes on" : "live");
    if (isRead) return;
    data = newer;
    const { scrollX, scrollY } = globalThis;
    keepUnfolded(draw);
    scrollTo(scrollX, scrollY);
  } catch {
    say("gone", "the run has ended");
  } finally {
    setTimeout(() => void refresh(), refreshMs);
  }
}

/** The state of a live page. */
function say(state: "live" | "held" | "gone", words: string): void {
  const badge = document.querySelector(".live");
  if (badge === null) return;
  badge.className = state === "live" ? "live" : `live ${state}`;
  badge.textContent = words;
}

const wantsDark = matchMedia("(prefers-color-scheme: dark)");
wantsDark.addEventListener("change", () => setTheme(wantsDark.matches));
document.querySelector("#theme")?.addEventListener("click", toggleTheme);
listenToKeys(toggleTheme);
setTheme(wantsDark.matches);
if (data.live) setTimeout(() => void refresh(), refreshMs);
