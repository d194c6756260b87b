/** Views of the runs list under names, remembered by this browser. */

const KEY = "tandem.runViews";

export interface SavedView {
  readonly name: string;
  /** The query part of its address. */
  readonly search: string;
}

function isSavedView(value: unknown): value is SavedView {
  if (typeof value !== "object" || value === null) return false;
  return "name" in value && typeof value.name === "string" && "search" in value && typeof value.search === "string";
}

/** By name. What was stored by another version and cannot be read counts as none. */
export function savedViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isSavedView) : [];
  } catch {
    return [];
  }
}

/** A view of that name is replaced. */
export function saveView(view: SavedView): void {
  store([...savedViews().filter(({ name }) => name !== view.name), view]);
}

export function forgetView(name: string): void {
  store(savedViews().filter((view) => view.name !== name));
}

function store(views: readonly SavedView[]): void {
  localStorage.setItem(KEY, JSON.stringify([...views].sort((a, b) => a.name.localeCompare(b.name))));
}
