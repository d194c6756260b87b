/** Every REST call of the pages, named. Types come from the schema; only listings are unwrapped here. */

import { call, type QueryValues } from "./client.ts";
import type { MetricKey } from "./metric_key.ts";
import type {
  ActionKind,
  BudgetToSet,
  BulkRequest,
  ConfigurationToImport,
  LaneKind,
  LanesToAskFor,
  Lend,
  LogLevel,
  NewMirror,
  NewPool,
  NewPreview,
  NewPromptSet,
  NewRun,
  NewSecret,
  NewServiceAccount,
  NewServiceToken,
  NewSweep,
  NewToken,
  NewWebhook,
  operations,
  PatchedAnnotationsToWrite,
  PatchedMirrorChanges,
  PatchedPoolToChange,
  PatchedRunChanges,
  PatchedServiceAccountChanges,
  PatchedWebhookChanges,
  PolicyToSet,
  PoolActions,
  PoolsToTry,
  ProjectRole,
  paths,
  QueueMove,
  ReplayRequest,
  ResizeRequest,
  RunToCheck,
  SamplePurpose,
  SharesToTry,
  ShareToSet,
  SpecToValidate,
  SweepToPreview,
  ViewToSave,
} from "./schema.ts";

/** Filters of the list of runs. */
export interface RunFilter extends QueryValues {
  readonly project?: string | undefined;
  /** One or several, separated by commas. */
  readonly state?: string | undefined;
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
  readonly archived?: boolean | undefined;
}

/** Filters, order and groups of the table of runs. */
export type TableFilter = {
  readonly [Name in keyof TableQuery]?: TableQuery[Name] | undefined;
};
type TableQuery = Omit<NonNullable<paths["/api/v1/runs:table"]["get"]["parameters"]["query"]>, "offset" | "limit">;

/** From when until when, as ISO times. */
export interface Window extends QueryValues {
  readonly since: string;
  readonly until: string;
}

export type UsageBy = NonNullable<operations["usage_list"]["parameters"]["query"]["by"]>;

/** What comes first of a run's prompts. */
export type PromptOrder = NonNullable<NonNullable<operations["runs_prompts_retrieve"]["parameters"]["query"]>["order"]>;

/** Filters of the audit log. */
export type AuditFilter = Omit<NonNullable<operations["audit_list"]["parameters"]["query"]>, "cursor" | "limit">;

/** Which curves, how fine, and which window of them. */
export interface CurvesAsked {
  /** Names of metrics; all when empty. */
  readonly keys: readonly string[];
  readonly max_points: number;
  readonly from_step?: number;
  readonly to_step?: number;
}

/** Filters of a run's log. */
export interface LogFilter extends QueryValues {
  /** This severe or more. */
  readonly level?: LogLevel | undefined;
  /** A lane, `driver`, `web`, or a role: all lanes of it. */
  readonly source?: string | undefined;
  /** Types of entries, separated by commas. */
  readonly types?: string | undefined;
  readonly search?: string | undefined;
}

/** Filters of the ledger of lending. */
export interface LendFilter extends QueryValues {
  readonly since?: string | undefined;
  readonly kind?: Lend["kind"] | undefined;
  /** The borrower's or the lender's. */
  readonly project?: string | undefined;
  /** The borrower. */
  readonly run?: string | undefined;
  /** Label of a lane, or name of a GPU. */
  readonly lane?: string | undefined;
}

/** The most stream items that one answer holds. */
const MAX_ITEMS = 1000;
/** The most changes of a node, GPU or lane that the page lists. */
const MAX_CHANGES = 50;
/** The most tests of a GPU that its page lists. */
const MAX_TESTS = 20;
/** The most service accounts that a project or the pool lists. */
const MAX_SERVICE_ACCOUNTS = 1000;
/** The most sweeps that the page lists. */
const MAX_SWEEPS = 200;
/** The most webhooks that a project or the pool lists. */
const MAX_WEBHOOKS = 1000;
/** The most mirrors that a project lists. */
const MAX_MIRRORS = 1000;
/** The most messages of a webhook that its dialog lists. */
const MAX_DELIVERIES = 50;
const MAX_DELETIONS = 10;
/** Rows of the audit log that are read at once. */
const AUDIT_PAGE = 50;

async function results<T>(page: Promise<{ readonly results: readonly T[] }>): Promise<readonly T[]> {
  return (await page).results;
}

const of = (run_id: string) => ({ path: { run_id } });

export const api = {
  /** One page of runs; `cursor` is that of the page before. */
  listRuns: (filter: RunFilter, cursor?: string) => call("GET", "/api/v1/runs", { query: { ...filter, cursor } }),
  getRun: (id: string) => call("GET", "/api/v1/runs/{id}", { path: { id } }),
  createRun: (body: NewRun) => call("POST", "/api/v1/runs", { body }),
  patchRun: (id: string, body: PatchedRunChanges) => call("PATCH", "/api/v1/runs/{id}", { path: { id }, body }),
  deleteRun: (id: string) => call("DELETE", "/api/v1/runs/{id}", { path: { id } }),
  act: (run: string, action: ActionKind, prompts: readonly string[] = []) =>
    call("POST", "/api/v1/runs/{run_id}/actions", { ...of(run), body: { action, prompts } }),
  size: (run: string) => call("GET", "/api/v1/runs/{run_id}/size", of(run)),
  resize: (run: string, body: ResizeRequest) => call("POST", "/api/v1/runs/{run_id}/resize", { ...of(run), body }),
  replay: (run: string, body: ReplayRequest) => call("POST", "/api/v1/runs/{run_id}/replays", { ...of(run), body }),
  duplicateRun: (run: string) => call("POST", "/api/v1/runs/{run_id}/duplicate", { ...of(run), body: {} }),

  transitions: (run: string) => results(call("GET", "/api/v1/runs/{run_id}/transitions", of(run))),
  /** Curves of these metrics, or of all when `keys` is empty. */
  metrics: (run: string, { keys, ...query }: CurvesAsked) =>
    call("GET", "/api/v1/runs/{run_id}/metrics", { ...of(run), query: { keys: keys.join(","), ...query } }),
  runTable: (filter: TableFilter, offset: number, limit: number) =>
    call("GET", "/api/v1/runs:table", { query: { ...filter, offset, limit } }),
  runViews: () => results(call("GET", "/api/v1/run-views", {})),
  saveView: (body: ViewToSave) => call("POST", "/api/v1/run-views", { body }),
  forgetView: (view_id: string) => call("DELETE", "/api/v1/run-views/{view_id}", { path: { view_id } }),
  actOnRuns: (body: BulkRequest) => call("POST", "/api/v1/runs:bulk", { body }),
  /** One metric of several runs, for the rows of a list. */
  sparklines: (runs: readonly string[], key: MetricKey = "reward/mean") =>
    call("GET", "/api/v1/runs:sparklines", { query: { ids: runs.join(","), key } }),
  timeline: (run: string, asked: { from?: number; to?: number; limit: number }) =>
    call("GET", "/api/v1/runs/{run_id}/timeline", { ...of(run), query: asked }),
  /** How many lanes of each role did what, in buckets of a window. */
  laneStates: (run: string, asked: { from: number; to: number; buckets: number }) =>
    call("GET", "/api/v1/runs/{run_id}/lane-states", { ...of(run), query: asked }),
  /** What each plan of the run promised for every lane, batch by batch. */
  plannedTime: (run: string) => call("GET", "/api/v1/runs/{run_id}/planned-time", of(run)),
  /** Where and when each part of a fragment ran; `batch` counts from 0, as spans do. */
  fragment: (run_id: string, fragment: { batch: number; group: number; fragment: number }) =>
    call("GET", "/api/v1/runs/{run_id}/fragments/{batch}/{group}/{fragment}", { path: { run_id, ...fragment } }),
  bubbles: (run: string, from?: number, to?: number) =>
    call("GET", "/api/v1/runs/{run_id}/bubbles", { ...of(run), query: { from, to } }),
  /** What a unit of work takes on each lane, beside its peers. */
  laneSeconds: (run: string) => call("GET", "/api/v1/runs/{run_id}/lane-seconds", of(run)),
  plan: (run: string) => call("GET", "/api/v1/runs/{run_id}/plan", of(run)),
  lending: (run: string) => call("GET", "/api/v1/runs/{run_id}/lending", of(run)),
  /** How stale the trajectories of each batch were, in at most `max_columns` columns. */
  staleness: (run: string, asked: { max_columns: number; from_batch?: number; to_batch?: number }) =>
    call("GET", "/api/v1/runs/{run_id}/staleness", { ...of(run), query: asked }),
  /** What became of the groups of each prompt, at most `limit` prompts. */
  prompts: (run: string, order: PromptOrder, limit: number) =>
    call("GET", "/api/v1/runs/{run_id}/prompts", { ...of(run), query: { order, limit } }),
  samples: (run: string, purpose: SamplePurpose, batch?: number) =>
    call("GET", "/api/v1/runs/{run_id}/samples", { ...of(run), query: { purpose, batch } }),
  /** The newest items of these types. */
  events: (run: string, types: readonly string[]) =>
    results(
      call("GET", "/api/v1/runs/{run_id}/events", { ...of(run), query: { limit: MAX_ITEMS, types: types.join() } }),
    ),
  logs: (run: string, query: LogFilter & { after_seq?: number; before_seq?: number; limit: number }) =>
    call("GET", "/api/v1/runs/{run_id}/logs", { ...of(run), query }),
  /** The run's errors, those with the same message together. */
  logErrors: (run: string) => results(call("GET", "/api/v1/runs/{run_id}/logs/errors", of(run))),
  adapters: (run: string) => results(call("GET", "/api/v1/runs/{run_id}/adapters", of(run))),
  checkpoints: (run: string) => results(call("GET", "/api/v1/runs/{run_id}/checkpoints", of(run))),
  lineage: (run: string) => call("GET", "/api/v1/runs/{run_id}/lineage", of(run)),
  previews: (run: string) => call("GET", "/api/v1/runs/{run_id}/previews", of(run)),
  createPreview: (run: string, body: NewPreview) =>
    call("POST", "/api/v1/runs/{run_id}/previews", { ...of(run), body }),
  cancelOperation: (operation: string) =>
    call("POST", "/api/v1/operations/{operation_id}/cancel", { path: { operation_id: operation } }),

  sweeps: (project?: string) => results(call("GET", "/api/v1/sweeps", { query: { project, limit: MAX_SWEEPS } })),
  sweep: (id: string) => call("GET", "/api/v1/sweeps/{id}", { path: { id } }),
  previewSweep: (body: SweepToPreview, signal?: AbortSignal) =>
    call("POST", "/api/v1/sweeps:preview", { body, signal }),
  createSweep: (body: NewSweep) => call("POST", "/api/v1/sweeps", { body }),
  stopSweep: (sweep_id: string) => call("POST", "/api/v1/sweeps/{sweep_id}/stop", { path: { sweep_id } }),
  deleteSweep: (id: string) => call("DELETE", "/api/v1/sweeps/{id}", { path: { id } }),

  validate: (body: SpecToValidate, signal?: AbortSignal) => call("POST", "/api/v1/runs:validate", { body, signal }),
  preflight: (body: RunToCheck) => call("POST", "/api/v1/runs:preflight", { body }),
  importConfiguration: (body: ConfigurationToImport, signal?: AbortSignal) =>
    call("POST", "/api/v1/runs:import", { body, signal }),
  planFor: (spec: unknown) => call("POST", "/api/v1/plans", { body: { spec } }),
  specSchema: () => call("GET", "/api/v1/run-spec-schema", {}),
  presets: () => results(call("GET", "/api/v1/presets", {})),
  baseModels: () => results(call("GET", "/api/v1/base-models", {})),
  promptSets: () => results(call("GET", "/api/v1/prompt-sets", {})),
  createPromptSet: (body: NewPromptSet) => call("POST", "/api/v1/prompt-sets", { body }),
  deletePromptSet: (id: string) => call("DELETE", "/api/v1/prompt-sets/{id}", { path: { id } }),

  secrets: (project: string) => results(call("GET", "/api/v1/secrets", { query: { project } })),
  createSecret: (body: NewSecret) => call("POST", "/api/v1/secrets", { body }),
  deleteSecret: (id: string) => call("DELETE", "/api/v1/secrets/{id}", { path: { id } }),

  mirrors: async (project: string) =>
    results(call("GET", "/api/v1/mirrors", { query: { limit: MAX_MIRRORS, project } })),
  createMirror: (body: NewMirror) => call("POST", "/api/v1/mirrors", { body }),
  changeMirror: (id: string, body: PatchedMirrorChanges) =>
    call("PATCH", "/api/v1/mirrors/{id}", { path: { id }, body }),
  deleteMirror: (id: string) => call("DELETE", "/api/v1/mirrors/{id}", { path: { id } }),
  tryMirrorAgain: (mirror_id: string) => call("POST", "/api/v1/mirrors/{mirror_id}/try-again", { path: { mirror_id } }),
  runMirrors: (run_id: string) => call("GET", "/api/v1/runs/{run_id}/mirrors", { path: { run_id } }),
  mirrorRun: (run_id: string, mirror: string) =>
    call("POST", "/api/v1/runs/{run_id}/mirrors", { path: { run_id }, body: { mirror } }),

  /** Those of a project; the pool's, without one. */
  serviceAccounts: async (project: string | null) => {
    const query = { limit: MAX_SERVICE_ACCOUNTS, ...(project === null ? {} : { project }) };
    const rows = await results(call("GET", "/api/v1/service-accounts", { query }));
    return rows.filter((row) => row.project === project);
  },
  createServiceAccount: (body: NewServiceAccount) => call("POST", "/api/v1/service-accounts", { body }),
  changeServiceAccount: (id: number, body: PatchedServiceAccountChanges) =>
    call("PATCH", "/api/v1/service-accounts/{id}", { path: { id }, body }),
  serviceTokens: (account_id: number) =>
    results(call("GET", "/api/v1/service-accounts/{account_id}/tokens", { path: { account_id } })),
  createServiceToken: (account_id: number, body: NewServiceToken) =>
    call("POST", "/api/v1/service-accounts/{account_id}/tokens", { path: { account_id }, body }),
  revokeServiceToken: (account_id: number, token_id: string) =>
    call("DELETE", "/api/v1/service-accounts/{account_id}/tokens/{token_id}", { path: { account_id, token_id } }),

  /** Those of a project; the pool's, without one. */
  webhooks: async (project: string | null) => {
    const query = { limit: MAX_WEBHOOKS, ...(project === null ? {} : { project }) };
    const rows = await results(call("GET", "/api/v1/webhooks", { query }));
    return rows.filter((row) => row.project === project);
  },
  createWebhook: (body: NewWebhook) => call("POST", "/api/v1/webhooks", { body }),
  changeWebhook: (id: string, body: PatchedWebhookChanges) =>
    call("PATCH", "/api/v1/webhooks/{id}", { path: { id }, body }),
  deleteWebhook: (id: string) => call("DELETE", "/api/v1/webhooks/{id}", { path: { id } }),
  rotateWebhookSecret: (id: string, overlap_hours: number) =>
    call("POST", "/api/v1/webhooks/{webhook_id}/rotate-secret", { path: { webhook_id: id }, body: { overlap_hours } }),
  testWebhook: (id: string) => call("POST", "/api/v1/webhooks/{webhook_id}/test", { path: { webhook_id: id } }),
  deliveries: (webhook_id: string) =>
    results(
      call("GET", "/api/v1/webhooks/{webhook_id}/deliveries", {
        path: { webhook_id },
        query: { limit: MAX_DELIVERIES },
      }),
    ),
  redeliver: (webhook_id: string, delivery_id: string) =>
    call("POST", "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", {
      path: { webhook_id, delivery_id },
    }),

  home: (project?: string) => call("GET", "/api/v1/home", { query: { project } }),

  me: () => call("GET", "/api/v1/me", {}),

  pool: () => call("GET", "/api/v1/pool", {}),
  pools: () => results(call("GET", "/api/v1/pools", {})),
  createPool: (body: NewPool) => call("POST", "/api/v1/pools", { body }),
  changePool: (name: string, body: PatchedPoolToChange) =>
    call("PATCH", "/api/v1/pools/{name}", { path: { name }, body }),
  removePool: (name: string) => call("DELETE", "/api/v1/pools/{name}", { path: { name } }),
  removeNode: (node_id: number) => call("DELETE", "/api/v1/nodes/{node_id}", { path: { node_id } }),
  /** The lanes that would change their pool; nothing is saved. */
  previewPools: (body: PoolsToTry) => results(call("POST", "/api/v1/pools:preview", { body })),
  annotateNode: (node_id: number, body: PatchedAnnotationsToWrite) =>
    call("PATCH", "/api/v1/nodes/{node_id}", { path: { node_id }, body }),
  annotateGpu: (gpu_id: number, body: PatchedAnnotationsToWrite) =>
    call("PATCH", "/api/v1/gpus/{gpu_id}", { path: { gpu_id }, body }),
  /** Every node, or those of these ids. */
  nodes: (ids?: readonly number[]) => results(call("GET", "/api/v1/nodes", { query: { ids: ids?.join(",") } })),
  actOnPool: (body: PoolActions) => results(call("POST", "/api/v1/pool/actions", { body })),
  /** The newest changes of a node and of all that it has. */
  nodeHistory: (node_id: number) =>
    results(call("GET", "/api/v1/nodes/{node_id}/history", { path: { node_id }, query: { limit: MAX_CHANGES } })),
  gpuHistory: (gpu_id: number) =>
    results(call("GET", "/api/v1/gpus/{gpu_id}/history", { path: { gpu_id }, query: { limit: MAX_CHANGES } })),
  laneHistory: (lane_id: number) =>
    results(call("GET", "/api/v1/lanes/{lane_id}/history", { path: { lane_id }, query: { limit: MAX_CHANGES } })),

  /** The runs that wait for a pool, or the first of them. */
  queue: (pool: string, limit?: number) => results(call("GET", "/api/v1/queue", { query: { pool, limit } })),
  runningIn: (pool: string) => results(call("GET", "/api/v1/queue/running", { query: { pool } })),
  previewQueue: (body: SharesToTry) => results(call("POST", "/api/v1/queue:preview", { body })),
  shares: (pool: string) => results(call("GET", "/api/v1/shares", { query: { pool } })),
  setShare: (pool: string, project_id: string, body: ShareToSet) =>
    call("PUT", "/api/v1/shares/{project_id}", { path: { project_id }, query: { pool }, body }),
  budgets: () => results(call("GET", "/api/v1/budgets", {})),
  setBudget: (project_id: string, body: BudgetToSet) =>
    call("PUT", "/api/v1/budgets/{project_id}", { path: { project_id }, body }),
  removeBudget: (project_id: string) => call("DELETE", "/api/v1/budgets/{project_id}", { path: { project_id } }),
  policy: (pool: string) => call("GET", "/api/v1/pool-policy", { query: { pool } }),
  setPolicy: (pool: string, body: PolicyToSet) => call("PUT", "/api/v1/pool-policy", { query: { pool }, body }),
  moveInQueue: (run: string, body: QueueMove) =>
    call("POST", "/api/v1/runs/{run_id}/queue-place", { ...of(run), body }),
  undoMove: (run: string) => call("DELETE", "/api/v1/runs/{run_id}/queue-place", of(run)),
  alternatives: (run: string) => results(call("GET", "/api/v1/runs/{run_id}/alternatives", of(run))),
  askForLanes: (run: string, body: LanesToAskFor) =>
    call("POST", "/api/v1/runs/{run_id}/alternatives", { ...of(run), body }),
  gpuTests: (gpu_id: number) =>
    results(call("GET", "/api/v1/gpus/{gpu_id}/tests", { path: { gpu_id }, query: { limit: MAX_TESTS } })),
  testGpus: (gpus: readonly number[], reason: string) =>
    results(call("POST", "/api/v1/gpus:test", { body: { gpus: [...gpus], reason } })),
  gpuMinutes: (gpu_id: number, since: string) =>
    call("GET", "/api/v1/gpus/{gpu_id}/minutes", { path: { gpu_id }, query: { since } }),
  /** One page of the uses of a GPU; `cursor` is that of the page before. */
  gpuUses: (gpu_id: number, cursor?: string) =>
    call("GET", "/api/v1/gpus/{gpu_id}/uses", { path: { gpu_id }, query: { limit: MAX_CHANGES, cursor } }),
  gpuHealth: (gpu_id: number) =>
    results(call("GET", "/api/v1/gpus/{gpu_id}/health", { path: { gpu_id }, query: { limit: MAX_CHANGES } })),
  occupancy: (window: Window, buckets: number, kind?: LaneKind, pool?: string) =>
    call("GET", "/api/v1/occupancy", { query: { ...window, buckets, kind, pool } }),
  usage: (window: Window, by: UsageBy) => results(call("GET", "/api/v1/usage", { query: { ...window, by } })),
  dailyUsage: (window: Window, by: UsageBy) => call("GET", "/api/v1/usage/days", { query: { ...window, by } }),
  /** One page of the audit log; `cursor` is that of the page before. */
  audit: (filter: AuditFilter, cursor?: string) =>
    call("GET", "/api/v1/audit", { query: { ...filter, limit: AUDIT_PAGE, cursor } }),
  retention: () => call("GET", "/api/v1/retention", {}),
  /** What is past its days now; nothing is deleted. */
  previewDeletion: () => call("POST", "/api/v1/retention:preview", {}),
  deleteShown: (preview: string) => call("POST", "/api/v1/retention:delete", { body: { preview } }),
  /** The newest deletions of what was past its days. */
  deletions: () => results(call("GET", "/api/v1/operations", { query: { kind: "retention", limit: MAX_DELETIONS } })),
  lends: (filter: LendFilter, limit: number) => results(call("GET", "/api/v1/lends", { query: { ...filter, limit } })),
  lendSums: (filter: LendFilter, by: "borrower" | "lender" | "run" | "lane" | "gpu") =>
    results(call("GET", "/api/v1/lends/sums", { query: { ...filter, by } })),

  projects: () => results(call("GET", "/api/v1/projects", {})),
  createProject: (name: string) => call("POST", "/api/v1/projects", { body: { name } }),
  members: (project_id: string) =>
    results(call("GET", "/api/v1/projects/{project_id}/members", { path: { project_id } })),
  addMember: (project_id: string, username: string, role: ProjectRole) =>
    call("POST", "/api/v1/projects/{project_id}/members", { path: { project_id }, body: { username, role } }),
  setRole: (project_id: string, user_id: number, role: ProjectRole) =>
    call("PATCH", "/api/v1/projects/{project_id}/members/{user_id}", { path: { project_id, user_id }, body: { role } }),
  removeMember: (project_id: string, user_id: number) =>
    call("DELETE", "/api/v1/projects/{project_id}/members/{user_id}", { path: { project_id, user_id } }),

  tokens: () => results(call("GET", "/api/v1/tokens", {})),
  createToken: (body: NewToken) => call("POST", "/api/v1/tokens", { body }),
  revokeToken: (id: string) => call("DELETE", "/api/v1/tokens/{id}", { path: { id } }),
};
