/** Choices about how pages look, remembered by this browser: an attribute of the document's element, which style sheets
 * read, and an entry of the local storage, which theme.js applies before the first paint. */

export type Remembered = "theme" | "density" | "rail";

/** The choice in force; null for the ordinary one. */
export function remembered(name: Remembered): string | null {
  return document.documentElement.dataset[name] ?? null;
}

export function remember(name: Remembered, choice: string | null): void {
  if (choice === null) {
    localStorage.removeItem(`tandem.${name}`);
    delete document.documentElement.dataset[name];
  } else {
    localStorage.setItem(`tandem.${name}`, choice);
    document.documentElement.dataset[name] = choice;
  }
}

/** Toggle between the ordinary choice and the other; returns whether the other is in force now. */
export function toggle(name: Remembered, other: string): boolean {
  const isOn = remembered(name) !== other;
  remember(name, isOn ? other : null);
  return isOn;
}
