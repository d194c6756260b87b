/** The stylesheet's colours for canvas drawing: resolved once per theme, so that CSS stays the only place they live. */

import { signal } from "@preact/signals";

/** Rises by one whenever the theme changes; drawing code reads it to redraw. */
export const themeVersion = signal(0);

const cache = new Map<string, string>();
let probe: HTMLElement | undefined;

/** The computed colour of a custom property, as the canvas wants it. `light-dark()` is only resolved on use, hence the
 * probe element. */
export function colour(name: string): string {
  const known = cache.get(name);
  if (known !== undefined) return known;
  if (!probe) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  const resolved = getComputedStyle(probe).color;
  cache.set(name, resolved);
  return resolved;
}

export function fontFamily(): string {
  return getComputedStyle(document.documentElement).fontFamily;
}

/** The same colour, transparent by `alpha`. */
export function faded(rgb: string, alpha: number): string {
  const parts =
    rgb
      .match(/[\d.]+/g)
      ?.slice(0, 3)
      .join(" ") ?? "0 0 0";
  return `rgb(${parts} / ${alpha})`;
}

export function themeChanged(): void {
  cache.clear();
  themeVersion.value += 1;
}

/** Follows the system's theme, which may change at any time. */
export function followSystemTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
}
