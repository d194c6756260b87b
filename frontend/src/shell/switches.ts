/** The buttons of the rail that change how pages look: theme, density, narrow rail. */

import { themeChanged } from "../base/palette.ts";
import { type Remembered, remember, remembered, toggle } from "./remembered.ts";

const NEXT_THEME: Readonly<Record<string, string>> = { system: "light", light: "dark", dark: "system" };

const themeNow = () => remembered("theme") ?? "system";

/** The system's theme, then light, then dark. */
export function changeTheme(): void {
  const next = NEXT_THEME[themeNow()] ?? "system";
  remember("theme", next === "system" ? null : next);
  showTheme();
  themeChanged();
}

export function changeDensity(): void {
  showPressed("density-switch", toggle("density", "compact"));
}

export function setDensity(isDense: boolean): void {
  remember("density", isDense ? "compact" : null);
  showPressed("density-switch", isDense);
}

export function changeRail(): void {
  showPressed("rail-switch", toggle("rail", "narrow"));
}

function showTheme(): void {
  const button = document.getElementById("theme-switch");
  if (!button) return;
  const theme = themeNow();
  button.title = `Theme: ${theme}. Click for ${NEXT_THEME[theme]}.`;
  button.setAttribute("aria-label", button.title);
  const use = button.querySelector("use");
  use?.setAttribute("href", `${use.getAttribute("href")?.split("#")[0]}#${theme}`);
}

function showPressed(id: string, isPressed: boolean): void {
  document.getElementById(id)?.setAttribute("aria-pressed", String(isPressed));
}

export function installSwitches(): void {
  const others: readonly [string, () => void, Remembered][] = [
    ["density-switch", changeDensity, "density"],
    ["rail-switch", changeRail, "rail"],
  ];
  for (const [id, change, name] of others) {
    document.getElementById(id)?.addEventListener("click", change);
    showPressed(id, remembered(name) !== null);
  }
  document.getElementById("theme-switch")?.addEventListener("click", changeTheme);
  showTheme();
}
