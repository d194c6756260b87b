/** What the runs list shows: filters, order and groups. It lives in the address, so that a view can be bookmarked, shared
 * and saved; the project is the one chosen in the rail. */

import { searchOf } from "../../api/client.ts";
import type { TableFilter } from "../../api/endpoints.ts";
import { type RunState, runStateValues } from "../../api/schema.ts";

export type Order = NonNullable<TableFilter["order"]>;
export type GroupBy = NonNullable<TableFilter["group"]>;

export const GROUP_LABELS: Readonly<Record<GroupBy, string>> = {
  project: "project",
  state: "state",
  tag: "tag",
  user: "user",
  model: "base model",
  algorithm: "algorithm",
  preset: "preset",
  pool: "pool",
};
export const GROUPS = Object.keys(GROUP_LABELS) as readonly GroupBy[];
const ORDERS: readonly Order[] = ["created", "name", "state", "progress", "reward", "started", "duration"];

export interface RunView {
  readonly states: readonly RunState[];
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
  readonly mine: boolean;
  /** Only runs that ended within so many days. */
  readonly endedDays?: number | undefined;
  readonly archived: boolean;
  readonly order: Order;
  readonly descending: boolean;
  readonly group?: GroupBy | undefined;
}

export function viewFromSearch(text: string): RunView {
  const search = new URLSearchParams(text);
  const days = Number(search.get("ended_days"));
  const states = (search.get("state") ?? "").split(",");
  return {
    states: runStateValues.filter((state) => states.includes(state)),
    tag: search.get("tag") ?? undefined,
    search: search.get("search") ?? undefined,
    mine: search.get("mine") === "true",
    endedDays: Number.isInteger(days) && days > 0 ? days : undefined,
    archived: search.get("archived") === "true",
    order: ORDERS.find((order) => order === search.get("order")) ?? "created",
    descending: search.get("descending") !== "false",
    group: GROUPS.find((group) => group === search.get("group")),
  };
}

/** The query of the request, and of the address: what is as usual is left out. */
export function queryOf(view: RunView): TableFilter {
  return {
    state: view.states.join(",") || undefined,
    tag: view.tag,
    search: view.search,
    mine: view.mine || undefined,
    ended_days: view.endedDays,
    archived: view.archived || undefined,
    order: view.order === "created" ? undefined : view.order,
    descending: view.descending ? undefined : false,
    group: view.group,
  };
}

export const searchOfView = (view: RunView): string => searchOf({ ...queryOf(view) });

/** Whether something is left out of the list. */
export function isFiltered(view: RunView): boolean {
  const { states, tag, search, mine, endedDays, archived } = view;
  return states.length > 0 || Boolean(tag || search || mine || endedDays || archived);
}

/** Columns whose first order is from the largest down. */
const LARGEST_FIRST: readonly Order[] = ["created", "started", "reward", "progress", "duration"];

/** The view when the heading of a column is pressed: ordered by it, or the other way round. */
export function orderedBy(view: RunView, order: Order): RunView {
  const descending = view.order === order ? !view.descending : LARGEST_FIRST.includes(order);
  return { ...view, order, descending };
}
