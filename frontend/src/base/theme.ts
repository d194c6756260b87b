/** The theme switch: system → light → dark. The choice lives in the browser; theme.js applies it before first paint. */

import { themeChanged } from "./palette.ts";

const KEY = "tandem.theme";
const NEXT: Record<string, string> = { system: "light", light: "dark", dark: "system" };

export function installThemeSwitch(button: HTMLButtonElement): void {
  const show = () => {
    const current = localStorage.getItem(KEY) ?? "system";
    button.textContent = { system: "◐", light: "○", dark: "●" }[current] ?? "◐";
    button.title = `Theme: ${current}. Click for ${NEXT[current]}.`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const next = NEXT[localStorage.getItem(KEY) ?? "system"] ?? "system";
    if (next === "system") {
      localStorage.removeItem(KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEY, next);
      document.documentElement.dataset.theme = next;
    }
    show();
    themeChanged();
  });
  show();
}
