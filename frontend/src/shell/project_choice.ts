/** The project that the pages show, chosen in the rail and remembered by this browser; null for all of the user's. */

import { signal } from "@preact/signals";

const KEY = "tandem.project";

export const chosenProject = signal<string | null>(null);

export function readProjectChoice(): void {
  chosenProject.value = localStorage.getItem(KEY);
}

export function chooseProject(id: string | null): void {
  if (id === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, id);
  chosenProject.value = id;
}
