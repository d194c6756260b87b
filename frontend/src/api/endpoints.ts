/** Every REST call of the pages, named. */

import type { JsonObject } from "../base/paths.ts";
import { call, query } from "./client.ts";
import type {
  Adapter,
  BaseModel,
  BubblesAnswer,
  Checkpoint,
  CreatedToken,
  LendingAnswer,
  Member,
  MetricsAnswer,
  Page,
  Plan,
  PlanPreview,
  Preset,
  Project,
  ProjectRole,
  PromptSet,
  Run,
  SamplesAnswer,
  Secret,
  StalenessOfBatch,
  StreamItem,
  TimelineAnswer,
  Token,
  Transition,
  Try,
  Validation,
} from "./types.ts";

type Listing<T> = Page<T> | readonly T[];

/** A listing is a cursor page or, for short fixed ones, the bare list. */
function results<T>(listing: Listing<T>): readonly T[] {
  return "results" in listing ? listing.results : listing;
}

async function list<T>(path: string): Promise<readonly T[]> {
  return results(await call<Listing<T>>("GET", path));
}

export interface RunFilter {
  readonly project?: string | undefined;
  readonly state?: string | undefined;
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
  readonly archived?: boolean | undefined;
}

export interface NewRun {
  readonly project: string;
  readonly name: string;
  readonly spec: JsonObject;
  readonly parent?: string;
}

/** The most stream items that one answer holds. */
const MAX_ITEMS = 1000;

const run = (id: string) => `/runs/${id}`;

export const api = {
  listRuns: (filter: RunFilter) => call<Page<Run>>("GET", `/runs${query({ ...filter })}`),
  /** The next page, by the address that the page before gave. */
  nextRuns: (next: string) => {
    const url = new URL(next, location.href);
    return call<Page<Run>>("GET", `/runs${url.search}`);
  },
  getRun: (id: string) => call<Run>("GET", run(id)),
  createRun: (body: NewRun) => call<Run>("POST", "/runs", body),
  patchRun: (id: string, changes: Record<string, unknown>) => call<Run>("PATCH", run(id), changes),
  deleteRun: (id: string) => call<null>("DELETE", run(id)),
  act: (id: string, action: string, prompts: readonly string[] = []) =>
    call<{ command_id: string }>("POST", `${run(id)}/actions`, { action, prompts }),
  duplicateRun: (id: string) => call<Run>("POST", `${run(id)}/duplicate`, {}),
  transitions: (id: string) => list<Transition>(`${run(id)}/transitions`),
  metrics: (id: string, keys: readonly string[] = [], maxPoints = 2000) =>
    call<MetricsAnswer>("GET", `${run(id)}/metrics${query({ keys: keys.join(","), max_points: maxPoints })}`),
  timeline: (id: string, limit = 20000) => call<TimelineAnswer>("GET", `${run(id)}/timeline${query({ limit })}`),
  bubbles: (id: string, from?: number) => call<BubblesAnswer>("GET", `${run(id)}/bubbles${query({ from })}`),
  plan: (id: string) => call<{ plan: Plan | null }>("GET", `${run(id)}/plan`),
  lending: (id: string) => call<LendingAnswer>("GET", `${run(id)}/lending`),
  staleness: (id: string) => list<StalenessOfBatch>(`${run(id)}/staleness`),
  samples: (id: string, purpose: string, batch?: number) =>
    call<SamplesAnswer>("GET", `${run(id)}/samples${query({ purpose, batch })}`),
  events: (id: string) => call<Page<StreamItem>>("GET", `${run(id)}/events${query({ limit: MAX_ITEMS })}`),
  logs: (id: string, filter: { level?: string; source?: string; search?: string }) =>
    call<Page<StreamItem>>("GET", `${run(id)}/logs${query({ ...filter, limit: MAX_ITEMS })}`),
  adapters: (id: string) => list<Adapter>(`${run(id)}/adapters`),
  checkpoints: (id: string) => list<Checkpoint>(`${run(id)}/checkpoints`),
  tryPrompts: (id: string, body: { prompts: readonly string[]; num_samples: number; seed: number }) =>
    call<{ try_id: string }>("POST", `${run(id)}/try`, body),
  tries: (id: string) => list<Try>(`${run(id)}/tries`),

  validate: (body: ({ spec: JsonObject } | { yaml: string }) & { project?: string }, signal?: AbortSignal) =>
    call<Validation>("POST", "/runs:validate", body, signal),
  planFor: (spec: JsonObject) => call<PlanPreview>("POST", "/plans", { spec }),
  specSchema: () => call<JsonObject>("GET", "/run-spec-schema"),
  presets: () => list<Preset>("/presets"),
  baseModels: () => list<BaseModel>("/base-models"),
  promptSets: () => list<PromptSet>("/prompt-sets"),
  createPromptSet: (body: { project: string; name: string; prompts: readonly string[] }) =>
    call<PromptSet>("POST", "/prompt-sets", body),
  deletePromptSet: (id: string) => call<null>("DELETE", `/prompt-sets/${id}`),

  secrets: (project: string) => list<Secret>(`/secrets?project=${project}`),
  createSecret: (body: { project: string; name: string; host: string; value: string }) =>
    call<Secret>("POST", "/secrets", body),
  deleteSecret: (id: string) => call<null>("DELETE", `/secrets/${id}`),

  projects: () => list<Project>("/projects"),
  createProject: (name: string) => call<Project>("POST", "/projects", { name }),
  renameProject: (id: string, name: string) => call<Project>("PATCH", `/projects/${id}`, { name }),
  members: (project: string) => list<Member>(`/projects/${project}/members`),
  addMember: (project: string, username: string, role: ProjectRole) =>
    call<Member>("POST", `/projects/${project}/members`, { username, role }),
  setRole: (project: string, member: string | number, role: ProjectRole) =>
    call<Member>("PATCH", `/projects/${project}/members/${member}`, { role }),
  removeMember: (project: string, member: string | number) =>
    call<null>("DELETE", `/projects/${project}/members/${member}`),

  tokens: () => list<Token>("/tokens"),
  createToken: (name: string) => call<CreatedToken>("POST", "/tokens", { name }),
  revokeToken: (id: string) => call<null>("DELETE", `/tokens/${id}`),
};
