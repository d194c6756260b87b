/** Views of the runs list under names: kept by the server, one's own or shared with a project. A view is what the address
 * says, the columns and the density. */

import { searchOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Project, SavedView } from "../../api/schema.ts";
import { remembered } from "../../shell/remembered.ts";
import { setDensity } from "../../shell/switches.ts";
import { chooseColumns, chosenColumns } from "./columns.tsx";
import { queryOf, type RunView, viewFromSearch } from "./run_view.ts";

/** Save what is on the page; `project`: whom it is shared with, null for nobody. */
export async function saveView(view: RunView, name: string, project: string | null): Promise<void> {
  const defined = Object.entries(queryOf(view)).filter(([, value]) => value !== undefined);
  await api.saveView({
    name,
    query: Object.fromEntries(defined),
    columns: chosenColumns().map(({ id }) => id),
    is_dense: remembered("density") === "compact",
    project,
  });
}

/** Put columns and density as they were saved. Returns the filters, order and groups. */
export function openView(saved: SavedView): RunView {
  if (saved.columns.length > 0) chooseColumns(saved.columns);
  setDensity(saved.is_dense);
  return viewFromSearch(searchOf(saved.query as Readonly<Record<string, string | number | boolean>>));
}

export interface ViewGroup {
  readonly title: string;
  readonly views: readonly SavedView[];
}

/** One's own first, then those of each project by its name. */
export function grouped(views: readonly SavedView[]): ViewGroup[] {
  const groups = new Map<string, SavedView[]>();
  for (const view of views) {
    const title = view.project === null ? "" : `Shared in ${view.project_name}`;
    groups.set(title, [...(groups.get(title) ?? []), view]);
  }
  return [...groups]
    .map(([title, found]) => ({ title: title || "Yours", views: found, isOwn: title === "" }))
    .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || a.title.localeCompare(b.title))
    .map(({ title, views: found }) => ({ title, views: found }));
}

/** Projects that the user may share a view with. */
export const sharable = (projects: readonly Project[]): Project[] => projects.filter(({ role }) => role !== "viewer");
