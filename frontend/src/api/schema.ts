/**
 * This file was generated from openapi.json by contract/types.js: `make contract`.
 */

import type { Json } from "../base/paths.ts";
export interface paths {
    readonly "/api/v1/audit": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Who changed what, when, by which request, newest first. Of projects that you own; everything, for pool
         *     admins.
         */
        readonly get: operations["audit_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/base-models": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Models below `TANDEM_MODEL_ROOTS`. Hub ids (`org/name`) may be used as well. */
        readonly get: operations["base_models_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/budgets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The budgets of your projects, and what is spent of them; of all, for pool admins. */
        readonly get: operations["budgets_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/budgets/{project_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description What one of your projects may spend, and what is spent of it; any project, for pool admins. 404 without. */
        readonly get: operations["budgets_retrieve"];
        /** @description Set what a project may spend. For pool admins. */
        readonly put: operations["budgets_update"];
        readonly post?: never;
        /** @description Let a project spend anything. For pool admins. */
        readonly delete: operations["budgets_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every GPU, or those of a node, an accelerator, a state. */
        readonly get: operations["gpus_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["gpus_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** @description Write labels, notes or the price of one GPU. For pool admins. */
        readonly patch: operations["gpus_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}/actions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Cordon, drain, maintain or resume one GPU; a run that holds its lane keeps it. For pool admins. */
        readonly post: operations["gpus_actions_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every change of the GPU's health, newest first, with what its driver had counted. */
        readonly get: operations["gpus_health_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every change of the GPU, and of the node itself that it is in, newest first. */
        readonly get: operations["gpus_history_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}/minutes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Utilisation, memory, temperature, power and clocks of the last hours, minute by minute. */
        readonly get: operations["gpus_minutes_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}/tests": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The tests of a GPU, newest first. */
        readonly get: operations["gpus_tests_list"];
        readonly put?: never;
        /**
         * @description Test a GPU now: it takes no new work until it has passed. A run that holds its lane goes on, and the test
         *     waits for it. For pool admins.
         */
        readonly post: operations["gpus_tests_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus/{gpu_id}/uses": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Who used the GPU, newest first: runs, previews, tests. */
        readonly get: operations["gpus_uses_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/gpus:test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Test several GPUs, all or none of them, as one is tested. For pool admins. */
        readonly post: operations["gpus:test_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/health/live": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The process answers. */
        readonly get: operations["health_live_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/health/ready": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Database and broker answer too; 503 names the one that does not. */
        readonly get: operations["health_ready_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/home": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Runs of you and your team that work, wait, failed or finished, and what needs somebody. */
        readonly get: operations["home"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/lanes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every lane, or those of a node, a pool, a kind, a state. */
        readonly get: operations["lanes_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/lanes/{lane_id}/actions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Cordon or resume one lane; a run that holds it keeps it. For pool admins. */
        readonly post: operations["lanes_actions_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/lanes/{lane_id}/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every change of the lane, and of the node itself that it is in, newest first. */
        readonly get: operations["lanes_history_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/lends": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Lanes lent between runs and within them, newest first: of your projects; all, for pool admins.
         *
         *     As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a lend, with its fields as columns: names as
         *     dictionaries of strings, those of several GPUs with commas between them, times as timestamps (ns, UTC), counts
         *     as uint32, seconds as float64. Without `limit` it holds every lend.
         */
        readonly get: operations["lends_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/lends/sums": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Sums over the newest lends, at most 5,000. */
        readonly get: operations["lends_sums"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/me": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["me_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/metrics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description What the pool, the GPUs, the queue and the runs that you may see do now, how Celery's tasks end, and how long
         *     this web process takes over requests, in Prometheus' text format. Scrape it with a token that reads.
         */
        readonly get: operations["prometheus_metrics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/mirrors": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Mirrors of your projects, by name. */
        readonly get: operations["mirrors_list"];
        readonly put?: never;
        /** @description It follows the project's runs from now on; `POST /runs/{run_id}/mirrors` adds one that has ended. */
        readonly post: operations["mirrors_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/mirrors/{mirror_id}/try-again": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Try its runs again at once whose last try failed, those given up too. */
        readonly post: operations["mirrors_try_again_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/mirrors/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Other tools that show a project's runs: W&B, MLflow, TensorBoard. A credential is stored encrypted and never
         *     shown.
         */
        readonly get: operations["mirrors_retrieve"];
        readonly put?: never;
        readonly post?: never;
        /** @description Stop mirroring. What was written stays where it is. */
        readonly delete: operations["mirrors_destroy"];
        readonly options?: never;
        readonly head?: never;
        /** @description Change what is given. Where it writes stays: make another mirror for another place. */
        readonly patch: operations["mirrors_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/nodes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every node with its GPUs and lanes. A lane that a run of another project holds is shown without that run. */
        readonly get: operations["nodes_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/nodes/{node_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["nodes_retrieve"];
        readonly put?: never;
        readonly post?: never;
        /** @description Remove a node that is lost for good, with its GPUs and lanes; its history stays. For pool admins. */
        readonly delete: operations["nodes_destroy"];
        readonly options?: never;
        readonly head?: never;
        /** @description Write labels, notes, the price of a node's GPUs, or how many of them make a lane. For pool admins. */
        readonly patch: operations["nodes_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/nodes/{node_id}/actions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Cordon, drain, maintain or resume a node; runs on it keep their lanes. For pool admins. */
        readonly post: operations["nodes_actions_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/nodes/{node_id}/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every change of the node, its GPUs and its lanes, newest first. */
        readonly get: operations["nodes_history_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/occupancy": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Lanes by project, idle, or out of service by state, in equal parts of a window. Projects that are not yours
         *     are summed up; pool admins see each.
         */
        readonly get: operations["occupancy_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/operations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Previews, commands to runs, resizes, sweeps, tests of GPUs, drains: what is under way and what has ended, the
         *     newest first. Runs are no operations: they have a list of their own.
         */
        readonly get: operations["operations_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/operations/{operation_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description How far an operation is; poll it until `ended_at` is there. */
        readonly get: operations["operations_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/operations/{operation_id}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Take an operation back. Previews, sweeps and drains can be; of others, and of one that has ended, a 409 says
         *     what is possible, also as `legal_actions`.
         */
        readonly post: operations["operations_cancel_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plans": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description What the planner would choose for a spec on the pool's lanes, ignoring the spec's own placement; may take
         *     seconds.
         */
        readonly post: operations["plans_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pool": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description How a machine joins the pool, and when the pool was last reported. */
        readonly get: operations["pool_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pool-policy": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["pool_policy_retrieve"];
        /** @description Set the policy of a pool; what is left out stays. For pool admins. */
        readonly put: operations["pool_policy_update"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pool/actions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Act on several nodes, GPUs and lanes, on all or none; the answer is their nodes. For pool
         *     admins.
         */
        readonly post: operations["pool_actions_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pools": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every pool with its lanes, in the order in which pools match them. */
        readonly get: operations["pools_list"];
        readonly put?: never;
        /** @description Make a pool; the lanes that it matches move there, and who holds them keeps them. For pool admins. */
        readonly post: operations["pools_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pools/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["pools_retrieve"];
        readonly put?: never;
        readonly post?: never;
        /** @description Remove a pool that no run needs; its lanes move to those that match them now. For pool admins. */
        readonly delete: operations["pools_destroy"];
        readonly options?: never;
        readonly head?: never;
        /** @description Write description, labels or order, and move the lanes that this concerns. For pool admins. */
        readonly patch: operations["pools_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/pools:preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description The lanes that would move with these labels and this pool; nothing is saved. For pool admins. */
        readonly post: operations["pools_preview"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/presets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["presets_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["projects_list"];
        readonly put?: never;
        readonly post: operations["projects_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["projects_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["projects_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{project_id}/members": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Members of one project. Viewers see them; owners change them; everybody may leave. */
        readonly get: operations["projects_members_list"];
        readonly put?: never;
        /** @description Members of one project. Viewers see them; owners change them; everybody may leave. */
        readonly post: operations["projects_members_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{project_id}/members/{user_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** @description Members of one project. Viewers see them; owners change them; everybody may leave. */
        readonly delete: operations["projects_members_destroy"];
        readonly options?: never;
        readonly head?: never;
        /** @description Members of one project. Viewers see them; owners change them; everybody may leave. */
        readonly patch: operations["projects_members_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/prompt-sets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Prompt sets by name, each with its number of prompts and the first few; `GET /prompt-sets/{id}` has all. */
        readonly get: operations["prompt_sets_list"];
        readonly put?: never;
        readonly post: operations["prompt_sets_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/prompt-sets/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["prompt_sets_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["prompt_sets_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/queue": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description The runs that wait, pool by pool in the order in which they are served there. Those of other projects are
         *     not named.
         */
        readonly get: operations["queue_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/queue/running": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description The runs that hold lanes of a pool, with their expected ends, the first first. Those of other projects are
         *     not named.
         */
        readonly get: operations["queue_running_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/queue:preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description The queue of a pool as it would be with these shares of it, and with this half-life; nothing is saved. For
         *     pool admins.
         */
        readonly post: operations["queue_preview"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/retention": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description For how long each kind of data is kept. For pool admins. */
        readonly get: operations["retention_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/retention:delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Delete what a preview showed, and nothing else, in the background. A 409 says as `changed` what there is more
         *     of by now, or as `operation` which other deletion is under way. A repeat answers the same operation. For pool
         *     admins.
         */
        readonly post: operations["retention_delete"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/retention:preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description What is past its days now, by kind and run; nothing is deleted. For pool admins. */
        readonly post: operations["retention_preview"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/rewards": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every scorer that a spec can name: what it measures, its range, settings, weights, and how it is gamed. */
        readonly get: operations["rewards_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/rewards/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["rewards_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/run-spec-schema": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The JSON schema of a run spec, with the help, bounds and choices that the form shows. */
        readonly get: operations["run_spec_schema_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/run-views": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Your views of the runs list, and those that are shared with your projects, by name. */
        readonly get: operations["run_views_list"];
        readonly put?: never;
        /** @description Save a view, in place of your earlier one of the same name and project. */
        readonly post: operations["run_views_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/run-views/{view_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** @description Forget a view. Of a shared one, who saved it and the owners of its project may. */
        readonly delete: operations["run_views_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Runs, newest first, with what a list shows; `GET /runs/{id}` has all of one, with its spec. */
        readonly get: operations["runs_list"];
        readonly put?: never;
        readonly post: operations["runs_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["runs_retrieve"];
        readonly put?: never;
        readonly post?: never;
        /** @description Delete an ended run with its rows and files. */
        readonly delete: operations["runs_destroy"];
        readonly options?: never;
        readonly head?: never;
        /** @description Rename, annotate, archive, set the priority of a waiting run. Only what is sent changes. */
        readonly patch: operations["runs_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/actions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Send the run a command. 409 names its state and the commands that are legal in it. */
        readonly post: operations["runs_actions_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/adapters": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Trained versions in diffusers format, newest first: LoRAs, or whole transformers in several files. */
        readonly get: operations["runs_adapters_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/adapters/{adapter_id}/archive": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description All files of one version as an uncompressed tar, written while it is sent. Supports `Range`. */
        readonly get: operations["runs_adapters_archive_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/alternatives": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description What a waiting run could ask for instead, so that it starts now and delays nobody; may take seconds, since
         *     the planner predicts how much slower it would be.
         */
        readonly get: operations["run_alternatives_list"];
        readonly put?: never;
        /** @description Let a waiting run ask for other lanes; fields that are left out stay. 409 for a run that does not wait. */
        readonly post: operations["runs_alternatives_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/artifacts/{path}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The bytes of an artifact. Browsers show pictures and clips, and save adapters. */
        readonly get: operations["runs_artifacts_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/attempts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The run's attempts, oldest first: one driver each. */
        readonly get: operations["runs_attempts_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/bubbles": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description How the lanes of a run spent their time, in a window or over the whole run. The classes of a lane sum to its
         *     time.
         *
         *     As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a class of a lane: `lane`, `role`, `class`
         *     (dictionaries of strings), `seconds` (float64). The schema's metadata has the `stream_seq`.
         */
        readonly get: operations["runs_bubbles_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/checkpoints": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Resumable checkpoints, newest first; the store keeps the newest few, and those that runs were forked from. */
        readonly get: operations["runs_checkpoints_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/commands": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Commands that users sent to the run and their results, newest first. */
        readonly get: operations["runs_commands_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/duplicate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Create a run like this one; `spec`, if given, replaces the spec. */
        readonly post: operations["runs_duplicate_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Stream items, ascending: those after `after_seq`, else the newest. The websocket sends the same items. */
        readonly get: operations["runs_events_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/fragments/{batch}/{group}/{fragment}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Where and when a fragment of a training batch was generated, decoded, scored and trained on. `batch` counts
         *     from 0, as spans do.
         */
        readonly get: operations["runs_fragments_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/lane-seconds": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description What a trajectory, a micro-batch and a scored sample take on each lane, as the run has measured it, beside
         *     lanes with the same device: which lane, and which trainer rank, is slower than its peers.
         */
        readonly get: operations["runs_lane_seconds_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/lane-states": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description How many lanes of each role did what, in buckets of a window: the timeline of a run of many lanes. */
        readonly get: operations["runs_lane_states_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/lending": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every decision to lend trainer lanes to generation, with its predicted and its realised gain. */
        readonly get: operations["runs_lending_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/lineage": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description The runs that this one came from and those that came from it, each with its checkpoints and newest
         *     evaluation.
         */
        readonly get: operations["runs_lineage_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/logs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Log records and events on one axis: those after `after_seq`, oldest first, else the newest, newest first.
         *     `next` is null at the end; with filters a page may hold few, and still not be the last.
         */
        readonly get: operations["runs_logs_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/logs/errors": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The run's errors, those with the same message together, the newest first. */
        readonly get: operations["runs_logs_errors_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/logs/text": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The entries that match as a text, oldest first: of a very long log the newest. */
        readonly get: operations["runs_logs_text_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/metrics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Curves. With more than `max_points` points, each one is the mean of a bucket, with its min and max.
         *
         *     As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a point, by metric and step: `key`
         *     (dictionary of strings), `batch`, `optimizer_step` (uint32), `at` (timestamp in ns, UTC), `value` (float64).
         *     Without `max_points` it holds every point; with it, also `min` and `max` (float64). The schema's metadata has
         *     the `stream_seq`.
         */
        readonly get: operations["runs_metrics_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/mirrors": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description How far each mirror has got with the run, by name. */
        readonly get: operations["run_mirrors_list"];
        readonly put?: never;
        /** @description Write the run to the mirror at once: also one that has ended, or that was given up. */
        readonly post: operations["run_mirrors_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/plan": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description What the planner chose for the newest attempt of a run with `placement: auto`, and why; and all plans that
         *     the run has worked by, each with what it predicted and what was measured.
         */
        readonly get: operations["runs_plan_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/planned-time": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description What each plan of the run promised for every lane, batch by batch, to be drawn above what happened. A batch
         *     begins where the timeline has a version.
         */
        readonly get: operations["runs_planned_time_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/previews": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Newest first. */
        readonly get: operations["runs_previews_list"];
        readonly put?: never;
        /** @description Generate from your own prompts with a trained version of the run and, from the same seeds, without it. */
        readonly post: operations["runs_previews_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/previews/{preview_id}/images/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description A view below one run, which the user must see. */
        readonly get: operations["runs_previews_images_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/prompts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description What became of each prompt's groups: how many had spread, were drawn again, lack scores. Prompts that were
         *     not drawn yet are counted only.
         */
        readonly get: operations["runs_prompts_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/queue-place": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Move a waiting run in the queue of its pool. For pool admins; everybody sees the reason. */
        readonly post: operations["runs_queue_place_create"];
        /** @description Give the run the place again that fair share gives it. For pool admins. */
        readonly delete: operations["runs_queue_place_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/replays": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description The run's newest recorded batches under other switches, lanes or devices, with the error of the same replay
         *     under its own. Nothing is stored; it may take seconds, and one at a time is computed for a user.
         */
        readonly post: operations["runs_replays_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/report": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description The run's report: curves, pictures, lane time, spec and versions in one HTML file that refers to nothing
         *     outside itself. Its size is bounded; the report says what it leaves out.
         */
        readonly get: operations["runs_report_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/resize": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Add lanes to a run, release lanes, or change their roles, while it works. Rollout and reward lanes join and
         *     leave between fragments; a change of the trainer lanes waits for the end of a batch. `GET …/size` and the
         *     `lanes` events report how far it is. 409 while another resize is under way.
         */
        readonly post: operations["runs_resize_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/samples": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Pictures or clips of one batch, by prompt and member. */
        readonly get: operations["runs_samples_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/schedule": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Every event and decision of an attempt's scheduler, up to its last batch, as lines of JSON.
         *
         *     `python -m worker.scheduling.replay FILE` replays it.
         */
        readonly get: operations["runs_schedule_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/size": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description The lanes that the run holds, the free ones that could join it, what changing its trainer lanes is expected
         *     to take, and its resizes, newest first.
         */
        readonly get: operations["runs_size_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/staleness": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description How many trajectories of each trained batch were how stale. With more than `max_columns` batches in the
         *     window, neighbours share a column.
         */
        readonly get: operations["runs_staleness_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/stream": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description The run's items as server-sent events (`curl -N`): `id` is the item's number, `event` its type, `data` the
         *     item as the websocket sends it. A comment is sent in silence. After the run's end comes the event `end`, and a
         *     client that connects again gets 204, which tells it to stop.
         */
        readonly get: operations["run_stream"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/timeline": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Lane time in a window. With more than `limit` spans, neighbouring short spans of a lane are merged.
         *
         *     As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a span, by lane and start, with the fields of
         *     a span as columns: names as dictionaries of strings, `start` and `end` as timestamps (ns, UTC), counts as
         *     uint32. Without `limit` it holds every span; with it, also `num_spans`. The schema's metadata has the
         *     `stream_seq`.
         */
        readonly get: operations["runs_timeline_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/trace": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Lane time in a window as a file for Perfetto (https://ui.perfetto.dev): Trace Event Format, gzipped. Of a
         *     run with more than a million spans it holds the newest.
         */
        readonly get: operations["runs_trace_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}/transitions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Every change of state, oldest first. */
        readonly get: operations["runs_transitions_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs:bulk": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Do one thing to several runs. What is refused says why, and the others are done; with `all_or_none` a refusal
         *     is a 409 with `refused`, and nothing is done.
         */
        readonly post: operations["runs:bulk_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs:import": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Turn a recipe of flow_grpo, or the arguments of a training script of diffusers, into a spec's document, with
         *     what each setting was made of and what could not be carried. Nothing of the text is run. It holds no prompts,
         *     and that of diffusers no rewards: add them, then validate.
         */
        readonly post: operations["runs:import_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs:preflight": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Look at what stops, delays or breaks runs, before one is created: what is fine, what is not, what is unknown. */
        readonly post: operations["runs:preflight_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs:sparklines": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description One metric of several runs, for the rows of a list. */
        readonly get: operations["runs:sparklines_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs:table": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Any stretch of the runs that match, in any order, with their number; `GET /runs` has stable pages. */
        readonly get: operations["runs:table_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs:validate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Check a spec without creating a run: every error by field, or the normalised spec and its batch algebra. */
        readonly post: operations["runs:validate_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/secrets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Tokens of remote scorers. A value is stored encrypted and never shown. */
        readonly get: operations["secrets_list"];
        readonly put?: never;
        /** @description Tokens of remote scorers. A value is stored encrypted and never shown. */
        readonly post: operations["secrets_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/secrets/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** @description Tokens of remote scorers. A value is stored encrypted and never shown. */
        readonly delete: operations["secrets_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/service-accounts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Those of the projects that you own, and all of them for administrators, by name. */
        readonly get: operations["service_accounts_list"];
        readonly put?: never;
        /** @description Accounts of scripts. Each is of one project, or of the pool. */
        readonly post: operations["service_accounts_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/service-accounts/{account_id}/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The account's tokens, newest first. */
        readonly get: operations["service_accounts_tokens_list"];
        readonly put?: never;
        /** @description Make a token for the account, which this answer alone shows. */
        readonly post: operations["service_accounts_tokens_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/service-accounts/{account_id}/tokens/{token_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** @description Revoke the token at once, and close the sockets that it opened. */
        readonly delete: operations["service_accounts_tokens_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/service-accounts/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Accounts of scripts. Each is of one project, or of the pool. */
        readonly get: operations["service_accounts_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** @description Change its role, or switch it off and on. */
        readonly patch: operations["service_accounts_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/shares": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description What your projects may have of a pool, have, and used lately; all projects, for pool admins. */
        readonly get: operations["shares_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/shares/{project_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description What one of your projects may have of a pool, has, and used lately; any project, for pool admins. */
        readonly get: operations["shares_retrieve"];
        /** @description Set a project's share of a pool. For pool admins. */
        readonly put: operations["shares_update"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/sweeps": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Sweeps of your projects, newest first. */
        readonly get: operations["sweeps_list"];
        readonly put?: never;
        /** @description Make a sweep. Its runs are created in the background, as many at a time as it says. */
        readonly post: operations["sweeps_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/sweeps/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description A sweep with its points, their runs, and how the best point grew with what the sweep cost. */
        readonly get: operations["sweeps_retrieve"];
        readonly put?: never;
        readonly post?: never;
        /** @description Delete an ended sweep. Its runs stay. */
        readonly delete: operations["sweeps_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/sweeps/{sweep_id}/stop": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Stop its runs, and start no more. 409 for a sweep that does so already, or has ended. */
        readonly post: operations["sweeps_stop_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/sweeps:preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Check a sweep without making it: every error by field, or the points that it would run. */
        readonly post: operations["sweeps:preview_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Your own API tokens. Send one as `Authorization: Bearer <token>`. */
        readonly get: operations["tokens_list"];
        readonly put?: never;
        /** @description Your own API tokens. Send one as `Authorization: Bearer <token>`. */
        readonly post: operations["tokens_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tokens/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** @description Revoke the token at once. */
        readonly delete: operations["tokens_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/usage": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Lane hours, GPU hours and cost inside the window. Of your projects; of all, for pool admins. */
        readonly get: operations["usage_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/usage.csv": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The same as CSV, with a header. */
        readonly get: operations["usage_table"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/usage/days": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * @description Lane hours, GPU hours and cost of each day, by what is asked for. Of your projects; of all, for pool
         *     admins.
         */
        readonly get: operations["usage_days_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Accounts and their rights, for those who administer the installation. Accounts are created in Django's admin. */
        readonly get: operations["users_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** @description Make somebody a pool admin, or no longer. */
        readonly patch: operations["users_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/users/{user_id}/second-factor": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** @description Remove app and recovery codes, for somebody who has lost both. */
        readonly delete: operations["users_second_factor_destroy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Webhooks of the projects that you own, and of the pool for its admins, by name. */
        readonly get: operations["webhooks_list"];
        readonly put?: never;
        /** @description Messages of what happens in a project or in the pool, to addresses of your choice. */
        readonly post: operations["webhooks_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Messages of what happens in a project or in the pool, to addresses of your choice. */
        readonly get: operations["webhooks_retrieve"];
        readonly put?: never;
        readonly post?: never;
        /** @description Delete the webhook with its deliveries. */
        readonly delete: operations["webhooks_destroy"];
        readonly options?: never;
        readonly head?: never;
        /** @description Change what is given. Switched on again, it begins anew. */
        readonly patch: operations["webhooks_partial_update"];
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{webhook_id}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Its messages of the last 30 days with all tries, newest first. */
        readonly get: operations["webhook_deliveries_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["webhook_delivery_retrieve"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Send the message again at once, under its id. */
        readonly post: operations["webhooks_deliveries_redeliver_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{webhook_id}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * @description Give the webhook a new secret, which is shown this once. Until the overlap ends, each message has a signature
         *     by either, separated by a space.
         */
        readonly post: operations["webhooks_rotate_secret_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{webhook_id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** @description Send a message that tells of nothing, once. Read the delivery for what became of it. */
        readonly post: operations["webhooks_test_create"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly Account: {
            readonly id: number;
            readonly username: string;
            /** @description Whether the user may manage nodes, GPUs, pools and shares. */
            readonly is_pool_admin: boolean;
            /** @description Whether the user administers the installation. */
            readonly is_superuser: boolean;
            /** @description Whether the account may sign in. */
            readonly is_active: boolean;
        };
        readonly AccountPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Account"][];
        };
        readonly ActionAnswer: {
            /** Format: uuid */
            readonly command_id: string;
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
        };
        /** @enum {string} */
        readonly ActionKind: "pause" | "resume" | "stop" | "cancel" | "sample_now" | "checkpoint_now";
        readonly ActionRequest: {
            readonly action: components["schemas"]["ActionKind"];
            /** @description Prompts of `sample_now`. */
            readonly prompts?: readonly string[];
        };
        readonly Adapter: {
            readonly id: number;
            readonly attempt: number;
            readonly batch: number;
            readonly policy_version: number;
            /** @description `lora`: one file; `full`: the whole transformer, in several. */
            readonly tuning: components["schemas"]["Tuning"];
            readonly final: boolean;
            /**
             * Format: int64
             * @description Of all files together.
             */
            readonly num_bytes: number;
            readonly sha256: string;
            readonly files: readonly components["schemas"]["DownloadableFile"][];
            /** @description Name of the folder that the archive unpacks to. */
            readonly folder: string;
            /** @description The LoRA file; of several files, all of them as one tar. */
            readonly url: string;
            /** @description All files as one uncompressed tar. */
            readonly archive_url: string;
            /**
             * Format: double
             * @description Unix seconds.
             */
            readonly created_at: number;
        };
        /**
         * AdapterEvent
         * @description A policy version in diffusers format that users can download: a LoRA file, or folders of whole transformers.
         */
        readonly AdapterEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "adapter";
            readonly batch: number;
            readonly policy_version: number;
            /** @description Artifact path of the LoRA file; for several files, the path of their folder. */
            readonly artifact: string;
            /** @description Checksum of the LoRA file; for several files, their `listing_sha256`. */
            readonly sha256: string;
            /** @description Size of all files together, in bytes. */
            readonly num_bytes: number;
            /** @description Whether it is the version at the end of the run. */
            readonly final: boolean;
            /**
             * @description The files, each an artifact of its own at `<folder>/<path>`. A single one is a LoRA; several are sharded weights
             *     with their config and index.
             */
            readonly files: readonly components["schemas"]["AdapterFile"][];
        };
        /**
         * AdapterFields
         * @description A policy version in diffusers format that users can download: a LoRA file, or folders of whole transformers.
         */
        readonly AdapterFields: {
            readonly batch: number;
            readonly policy_version: number;
            /** @description Artifact path of the LoRA file; for several files, the path of their folder. */
            readonly artifact: string;
            /** @description Checksum of the LoRA file; for several files, their `listing_sha256`. */
            readonly sha256: string;
            /** @description Size of all files together, in bytes. */
            readonly num_bytes: number;
            /** @description Whether it is the version at the end of the run. */
            readonly final: boolean;
            /**
             * @description The files, each an artifact of its own at `<folder>/<path>`. A single one is a LoRA; several are sharded weights
             *     with their config and index.
             */
            readonly files: readonly components["schemas"]["AdapterFile"][];
        };
        /**
         * AdapterFile
         * @description One file of a policy version that users can download.
         */
        readonly AdapterFile: {
            /**
             * @description Path relative to the version's folder, such as `pytorch_lora_weights.safetensors` or
             *     `transformer/config.json`.
             */
            readonly path: string;
            readonly sha256: string;
            readonly num_bytes: number;
        };
        /**
         * AdapterItem
         * @description A `adapter` event in the stream.
         */
        readonly AdapterItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "adapter";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["AdapterFields"];
        };
        /** @description One page: AdapterBody */
        readonly AdapterPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Adapter"][];
        };
        readonly AddedLanes: {
            readonly role: components["schemas"]["LaneRole"];
            /** @default 1 */
            readonly number?: number;
            /** @description Accelerator that they must have, or `cpu`. Default: any that the role may use. */
            readonly device?: string;
        };
        /**
         * AdoptedPlan
         * @description A plan that the run adopted while it worked.
         */
        readonly AdoptedPlan: {
            readonly at: number;
            /** @description Number of complete batches when the plan took effect. */
            readonly batch: number;
            readonly reason: string;
            /** @description Predicted seconds of a batch from then on. */
            readonly batch_seconds: number;
        };
        /**
         * AestheticSettings
         * @description LAION's aesthetic predictor: a rating head on CLIP ViT-L/14.
         */
        readonly AestheticSettings: {
            /**
             * @description Weights of CLIP and rating head together: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
             *     Change it only to use a mirror or another head.
             * @default shunk031/aesthetics-predictor-v2-sac-logos-ava1-l14-linearMSE
             */
            readonly weights: string;
            /**
             * @description Pictures, or frames of clips, in one forward pass of the scorer. 16 fits beside other work on a GPU of 24 GB;
             *     lower it when the reward lane runs out of memory, raise it when scoring is slow on a GPU.
             * @default 16
             */
            readonly pictures_per_call: number;
            /**
             * @description Precision of the scorer's network. Empty: bf16 on a GPU, several times as fast, and fp32 on a CPU. Similarity,
             *     rating head and score are computed in fp32 either way. Take fp32 to compare scores with published ones to the last
             *     digit.
             * @default null
             */
            readonly dtype: ("fp32" | "bf16") | null;
        };
        /** @enum {string} */
        readonly AlternativeChange: "fewer_lanes" | "fewer_reward_lanes" | "rewards_on_cpus" | "other_pool";
        /** @description Lanes with which a waiting run would start now. */
        readonly AlternativeLanes: {
            readonly change: components["schemas"]["AlternativeChange"];
            /** @description Lanes to ask for instead. */
            readonly lanes: components["schemas"]["LaneSpec"];
            /**
             * Format: double
             * @description How many times as long a batch is predicted to take; null if nothing predicts it.
             */
            readonly slow_down: number | null;
        };
        /** @description One page: Lanes with which a waiting run would start now. */
        readonly AlternativeLanesPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["AlternativeLanes"][];
        };
        /** @description A deletion that was asked for. */
        readonly AskedDeletion: {
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
        };
        readonly Attempt: {
            readonly number: number;
            readonly submission_id: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly submitted_at: string | null;
            /** Format: date-time */
            readonly ended_at: string | null;
            readonly outcome: string;
            readonly detail: string;
            readonly log_tail: string;
            readonly resumed_from: string;
            /** @description Runs that were ahead of it in the queue when it was started without delaying any of them. */
            readonly num_overtaken: number;
        };
        /** @description One page: AttemptBody */
        readonly AttemptPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Attempt"][];
        };
        /**
         * AttentionBackend
         * @description Attention backends of diffusers, by its names. Those without a gradient, and those that download code, are left
         *     out.
         * @enum {string}
         */
        readonly AttentionBackend: "auto" | "default" | "_native_math" | "_native_flash" | "_native_efficient" | "_native_cudnn" | "flash" | "xformers" | "_native_npu";
        /** @description One change that somebody asked for. */
        readonly AuditRow: {
            readonly id: number;
            /** Format: date-time */
            readonly at: string;
            /** @description The user's name at that time, or the command that acted. */
            readonly actor: string;
            /** @description Whether a script's account asked for it, and no person. */
            readonly by_service_account: boolean;
            /** @description First characters of the API token; empty for a browser's session. */
            readonly token_key: string;
            /** @description `<object>.<verb>`, such as `gpu.drain`. */
            readonly action: string;
            readonly object_type: string;
            readonly object_id: string;
            readonly object_name: string;
            /** Format: uuid */
            readonly project_id: string | null;
            /** @description As it is called now; empty for no project. */
            readonly project_name: string;
            /** @description The request's `X-Request-ID`; empty where no request asked for it. */
            readonly request_id: string;
            /** @description The arguments of the call, by field; never a secret's value. */
            readonly changes: {
                readonly [key: string]: unknown;
            };
        };
        /** @description One page: One change that somebody asked for. */
        readonly AuditRowPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["AuditRow"][];
        };
        readonly BaseModel: {
            /** @description Value for `base_model.path` in a spec. */
            readonly name: string;
            readonly family: components["schemas"]["ModelFamily"];
            readonly path: string;
            readonly description: string;
        };
        /** @description One page: BaseModelBody */
        readonly BaseModelPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["BaseModel"][];
        };
        /**
         * BaseModelSpec
         * @description The model that is trained, and the precision that it is computed in.
         */
        readonly BaseModelSpec: {
            /**
             * @description Diffusers checkpoint that is trained: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
             *     Weights must be safetensors; pickles are refused. The default, `shapes`, is the tiny model of the demo, which trains
             *     on CPU lanes.
             * @default shapes
             */
            readonly path: string;
            /**
             * @description Architecture of the checkpoint: which diffusers pipeline it belongs to. It decides how guidance works and whether
             *     the model makes pictures or clips; a family that is not the checkpoint's own is refused when the model is loaded.
             * @default flux
             */
            readonly family: components["schemas"]["ModelFamily"];
            /**
             * @description Precision of the frozen weights and of the forward pass; LoRA layers, optimizer and log-probs stay fp32. bf16 is
             *     usual on GPUs: half the memory, and several times as fast. fp32 is for tiny models on CPU lanes, and for finding out
             *     whether a failing replay gate is a matter of rounding.
             * @default fp32
             * @enum {string}
             */
            readonly dtype: "fp32" | "bf16";
        };
        /**
         * BatchAlgebra
         * @description Every derived count of a run, printed at its start and stored with it.
         */
        readonly BatchAlgebra: {
            /** @description Groups in a batch. */
            readonly num_groups: number;
            /** @description Trajectories in a group. */
            readonly group_size: number;
            /** @description Trajectories in a batch. */
            readonly num_trajectories: number;
            /** @description Trajectories in a fragment. */
            readonly fragment_size: number;
            /** @description Fragments in a batch. */
            readonly num_fragments: number;
            /**
             * @description Most trajectories that a lane generates in one call of several fragments; a single fragment may have more.
             * @default 1
             */
            readonly num_trajectories_per_call: number;
            /** @description Mini-batches in a batch. */
            readonly num_minibatches: number;
            /** @description Passes through a batch. */
            readonly num_epochs: number;
            /** @description Groups in a mini-batch. */
            readonly num_groups_per_minibatch: number;
            /**
             * @description Denoising steps at which each trajectory is trained on; noise levels, for an algorithm that adds noise to
             *     finished samples.
             */
            readonly num_trained_denoising_steps: number;
            /**
             * @description Units of training that a group makes at each of those steps or levels. Empty: one for each trajectory.
             * @default null
             */
            readonly num_trained_members: number | null;
            /** @description (trajectory, denoising step) pairs that one optimizer step is computed from. */
            readonly num_pairs_per_optimizer_step: number;
            /** @description Most pairs in one forward and backward pass. */
            readonly micro_batch_size: number;
            /** @description Denoising steps of the same trajectories in one micro-batch; more than 1 where a group alone does not fill it. */
            readonly num_denoising_steps_per_micro_batch: number;
            /** @description Micro-batches of all trainer lanes in one optimizer step. */
            readonly num_micro_batches_per_optimizer_step: number;
            /** @description Optimizer steps in a batch; fewer are taken where mini-batches without spread are skipped. */
            readonly num_optimizer_steps_per_batch: number;
            /**
             * @description Whether groups without spread are not trained on.
             * @default false
             */
            readonly filter_groups: boolean;
            /**
             * @description Most draws of a group after its first, each because the one before has no spread.
             * @default 0
             */
            readonly max_resamples: number;
        };
        /**
         * BatchSpec
         * @description How a batch is made up, in prompts, groups and optimizer steps; every other count follows from these.
         */
        readonly BatchSpec: {
            /**
             * @description Groups in a batch, each of a prompt of its own. Usual: 16 to 48 (Flow-GRPO trains on 48 groups of 24), fewer for
             *     clips. More prompts make the gradient less noisy and each batch longer.
             * @default 8
             */
            readonly num_prompts_per_batch: number;
            /**
             * @description Trajectories of one prompt; each is compared with the others of its group. Usual: 12 (DanceGRPO), 16
             *     (Qwen-Image), 24 (Flow-GRPO), 4 to 8 for clips. Raise it when many groups have equal rewards (the share of groups
             *     with zero spread), since those teach nothing.
             * @default 8
             */
            readonly group_size: number;
            /**
             * @description Mini-batches that a batch is split into by prompt, each closed by one optimizer step; it must divide
             *     `num_prompts_per_batch`. 1 or 2 is usual (Flow-GRPO takes 2). More steps a batch learn faster, but the later ones
             *     train on samples of an older policy.
             * @default 1
             */
            readonly num_minibatches: number;
            /**
             * @description Passes through the batch. 1 is usual; more learn more from samples that are dear to generate, with
             *     `num_minibatches` × this optimizer steps a batch. Lower it when the clip fraction is high: the last passes then
             *     hardly change the policy.
             * @default 1
             */
            readonly num_epochs_per_batch: number;
            /**
             * @description (trajectory, denoising step) pairs in one forward and backward pass on one lane. Activation memory grows in
             *     proportion: 1 to 3 fits models of 12 billion parameters and more at 512 × 512. The result does not depend on it but
             *     for rounding; raise it until memory or speed stops gaining.
             * @default 8
             */
            readonly micro_batch_size: number;
            /**
             * @description Trajectories of one group that a lane generates together; it must divide `group_size`. Empty: the whole group,
             *     or with `placement: auto` what is predicted to be fastest, which may change while the run works unless it is
             *     `deterministic`. Smaller fragments share the work out more evenly over the lanes and need less memory; larger ones
             *     use a GPU better. It fixes the batch of the forward pass, which short fragments share unless the run is
             *     `deterministic`, so it may change samples by rounding.
             * @default null
             */
            readonly fragment_size: number | null;
            /**
             * @description Leave groups without spread out of training: those whose members all have the same reward, within float32's
             *     rounding, so that every advantage is 0. The loss still counts their pairs, so without a KL penalty what is learnt
             *     stays the same and training takes less time; with a `kl_coefficient` their part of the penalty is left out too. A
             *     mini-batch of nothing else takes no optimizer step, where it would otherwise be one of momentum and weight decay
             *     alone. Flow-GRPO's code drops such samples as well.
             * @default false
             */
            readonly filter_groups: boolean;
            /**
             * @description Times that a group without spread is drawn again, with other noise, before it is kept as it is. 0: never. 1 to 3
             *     suit rewards with few values, such as right or wrong, whose groups often teach nothing (DAPO's dynamic sampling
             *     draws other prompts instead). Each draw costs generation and scoring; prompts that are too easy or too hard stay
             *     without spread however often they are drawn. Dropped draws count nowhere, not in `advantage_std: batch` either.
             * @default 0
             */
            readonly max_resamples: number;
        };
        /**
         * BestPoint
         * @description The point with the best value of the objective now.
         */
        readonly BestPoint: {
            readonly number: number;
            /** @description The swept settings by dotted path. */
            readonly values: {
                readonly [key: string]: unknown;
            };
            /** @description Mean of its runs' newest values. */
            readonly value: number;
            /** @description Id of the best of its runs. */
            readonly run: string;
        };
        /**
         * BestSoFar
         * @description The best point became better, or another one did.
         */
        readonly BestSoFar: {
            /** @description Unix time in seconds. */
            readonly at: number;
            /** @description What the sweep had cost by then. */
            readonly gpu_hours: number;
            /** @description The same for lanes of any kind, CPU lanes included. */
            readonly lane_hours: number;
            /** @description Mean of the objective over the point's seeds, after equally many batches. */
            readonly value: number;
            readonly point: number;
        };
        /**
         * Bubbles
         * @description Lane time in seconds by class: a span kind, `idle:<cause>`, or `unaccounted`.
         *
         *     The classes of a lane sum to the time between its first and last span.
         */
        readonly Bubbles: {
            /** @description Lane time of all lanes together. */
            readonly total_seconds: number;
            readonly by_lane: {
                readonly [key: string]: {
                    readonly [key: string]: number;
                };
            };
            readonly by_role: {
                readonly [key: string]: {
                    readonly [key: string]: number;
                };
            };
            readonly by_class: {
                readonly [key: string]: number;
            };
            readonly stream_seq: number;
        };
        /** @description What a project may spend in the present period, and has spent. */
        readonly Budget: {
            /** Format: uuid */
            readonly project_id: string;
            readonly project_name: string;
            /** Format: decimal */
            readonly amount: string;
            /** @description `cost` in the currency of the GPUs' prices, by which GPUs without a price cost nothing; or `gpu_hours`. */
            readonly unit: components["schemas"]["UnitEnum"];
            /** @description A calendar `month` of UTC, or the `whole` time since it was set. */
            readonly period: components["schemas"]["PeriodEnum"];
            /**
             * Format: double
             * @description Share of the amount that is warned of.
             */
            readonly warn_at: number;
            /** @description `warn`: everything goes on; `hold`: no further run begins; `stop`: running ones save and wait as well. */
            readonly when_spent: components["schemas"]["WhenSpentEnum"];
            /** Format: decimal */
            readonly spent: string;
            /** @description Whether the share is reached that is warned of. */
            readonly is_near: boolean;
            readonly is_spent: boolean;
            /**
             * Format: date-time
             * @description From when on use counts in the present period.
             */
            readonly begins_at: string;
            /**
             * Format: date-time
             * @description When it begins anew; null for never.
             */
            readonly ends_at: string | null;
        };
        /** @description One page: What a project may spend in the present period, and has spent. */
        readonly BudgetPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Budget"][];
        };
        readonly BudgetToSet: {
            /** Format: decimal */
            readonly amount: string;
            /** @description `cost` in the currency of the GPUs' prices, by which GPUs without a price cost nothing; or `gpu_hours`. */
            readonly unit: components["schemas"]["UnitEnum"];
            /**
             * @description A calendar `month` of UTC, or the `whole` time since it was set.
             * @default month
             */
            readonly period?: components["schemas"]["PeriodEnum"];
            /**
             * Format: double
             * @description Share of the amount that is warned of.
             * @default 0.8
             */
            readonly warn_at?: number;
            /**
             * @description `warn`: everything goes on; `hold`: no further run begins; `stop`: running ones save and wait as well.
             * @default hold
             */
            readonly when_spent?: components["schemas"]["WhenSpentEnum"];
        };
        readonly BulkAnswer: {
            /** @description The runs that it was done to. */
            readonly done: readonly string[];
            readonly refused: readonly components["schemas"]["Refusal"][];
        };
        /**
         * @description Types of stream items that are too frequent to be read as events.
         * @enum {string}
         */
        readonly BulkItemType: "costs" | "groups" | "lend" | "log" | "metrics" | "queues" | "spans" | "staleness";
        readonly BulkRequest: {
            readonly ids: readonly string[];
            readonly action: components["schemas"]["BulkRequestActionEnum"];
            /** @description Of `tag` and `untag`. */
            readonly tag?: string;
            /**
             * @description Do nothing where one of the runs refuses.
             * @default false
             */
            readonly all_or_none?: boolean;
        };
        /** @enum {string} */
        readonly BulkRequestActionEnum: "stop" | "cancel" | "archive" | "unarchive" | "tag" | "untag";
        /**
         * CardFigures
         * @description What a card can do, measured on it while it was idle: products of matrices and copies, two seconds in all.
         */
        readonly CardFigures: {
            /** @description Streaming multiprocessors, or compute units. */
            readonly num_processors: number;
            /** @description Operations per second of the fastest product in bf16. */
            readonly bf16_flops: number;
            /** @description Likewise in fp32 without TF32. */
            readonly fp32_flops: number;
            /** @description Bytes per second, read and written together, of the fastest copy on the card. */
            readonly memory_bandwidth: number;
        };
        readonly CarriedSetting: {
            /** @description The setting of the spec. */
            readonly path: string;
            readonly value: unknown;
            /** @description The settings that it was made of. */
            readonly source: string;
        };
        /** @enum {string} */
        readonly CategoryEnum: "project" | "test" | "idle" | "out_of_service";
        readonly ChangedLane: {
            /** @description Id of a lane of the run. */
            readonly lane: string;
            readonly role: components["schemas"]["LaneRole"];
        };
        /**
         * CheckpointEvent
         * @description A resumable checkpoint in the checkpoint store; it is not uploaded to the web.
         */
        readonly CheckpointEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "checkpoint";
            readonly batch: number;
            readonly policy_version: number;
            readonly optimizer_step: number;
            readonly uri: string;
            readonly num_bytes: number;
        };
        /**
         * CheckpointFields
         * @description A resumable checkpoint in the checkpoint store; it is not uploaded to the web.
         */
        readonly CheckpointFields: {
            readonly batch: number;
            readonly policy_version: number;
            readonly optimizer_step: number;
            readonly uri: string;
            readonly num_bytes: number;
        };
        /**
         * CheckpointItem
         * @description A `checkpoint` event in the stream.
         */
        readonly CheckpointItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "checkpoint";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["CheckpointFields"];
        };
        /**
         * CheckpointSpec
         * @description Resumable checkpoints: trained weights, optimizer state and random states, in the store of
         *     `TANDEM_CHECKPOINTS`.
         */
        readonly CheckpointSpec: {
            /**
             * @description Batches between two resumable checkpoints; a run whose driver is lost repeats at most that many. 10 is usual, 25
             *     for all weights, whose checkpoints are large. Empty: only at the end, at a stop, and when a user asks for one.
             * @default 10
             */
            readonly every_num_batches: number | null;
            /**
             * @description Newest resumable checkpoints that are kept; older ones are deleted. One of a LoRA takes megabytes, one of all
             *     weights about 14 bytes a parameter. Keep more to be able to go back after a collapse.
             * @default 3
             */
            readonly num_kept: number;
        };
        /**
         * ChoiceRange
         * @description One of some values.
         */
        readonly ChoiceRange: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "choice";
            readonly values: readonly components["schemas"]["JsonValue"][];
        };
        /**
         * ClipScoreSettings
         * @description CLIP score: cosine of picture and prompt in a CLIP model.
         */
        readonly ClipScoreSettings: {
            /**
             * @description Weights of a CLIP model in transformers format: a hub id (`org/name`), or a folder below one of
             *     `TANDEM_MODEL_ROOTS`. Safetensors only. ViT-L/14 is the usual one; scores of different models are not comparable.
             * @default openai/clip-vit-large-patch14
             */
            readonly weights: string;
            /**
             * @description Pictures, or frames of clips, in one forward pass of the scorer. 16 fits beside other work on a GPU of 24 GB;
             *     lower it when the reward lane runs out of memory, raise it when scoring is slow on a GPU.
             * @default 16
             */
            readonly pictures_per_call: number;
            /**
             * @description Precision of the scorer's network. Empty: bf16 on a GPU, several times as fast, and fp32 on a CPU. Similarity,
             *     rating head and score are computed in fp32 either way. Take fp32 to compare scores with published ones to the last
             *     digit.
             * @default null
             */
            readonly dtype: ("fp32" | "bf16") | null;
        };
        readonly Command: {
            /** Format: uuid */
            readonly id: string;
            readonly kind: components["schemas"]["CommandKind"];
            readonly args: unknown;
            readonly created_by: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly delivered_at: string | null;
            /** Format: date-time */
            readonly done_at: string | null;
            readonly accepted: boolean | null;
            readonly detail: string;
        };
        /**
         * CommandDoneEvent
         * @description The answer to a `RunCommand`.
         */
        readonly CommandDoneEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "command_done";
            readonly command_id: string;
            readonly accepted: boolean;
            /** @default  */
            readonly detail: string;
        };
        /**
         * CommandDoneFields
         * @description The answer to a `RunCommand`.
         */
        readonly CommandDoneFields: {
            readonly command_id: string;
            readonly accepted: boolean;
            /** @default  */
            readonly detail: string;
        };
        /**
         * CommandDoneItem
         * @description A `command_done` event in the stream.
         */
        readonly CommandDoneItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "command_done";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["CommandDoneFields"];
        };
        /** CommandFields */
        readonly CommandFields: {
            /** @description What was asked of the run, and by whom, in a sentence. */
            readonly text: string;
        };
        /**
         * CommandItem
         * @description A stream item of the web: a command that was given.
         */
        readonly CommandItem: {
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "command";
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["CommandFields"];
        };
        /**
         * CommandKind
         * @description What a user may ask of a run.
         * @enum {string}
         */
        readonly CommandKind: "pause" | "resume" | "stop" | "cancel" | "sample_now" | "checkpoint_now" | "resize";
        /** @description One page: CommandBody */
        readonly CommandPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Command"][];
        };
        /**
         * Compilation
         * @description Backends of `torch.compile`.
         * @enum {string}
         */
        readonly Compilation: "auto" | "off" | "inductor" | "aot_eager";
        readonly ConfigurationToImport: {
            /** @description Of which trainer's configuration it is the text. Default: what the text looks like. */
            readonly kind?: components["schemas"]["ImportKind"] | components["schemas"]["NullEnum"];
            /** @description flow_grpo's `config/grpo.py`; or the command that started a training script of diffusers, or its arguments in YAML or JSON, as accelerate keeps them in `hparams.yml`. */
            readonly source: string;
            /**
             * @description Of flow_grpo's file: the function to read; empty: only name them.
             * @default
             */
            readonly function?: string;
            /** @description On how many GPUs it was run. Default: its `gpu_number`. */
            readonly num_gpus?: number | null;
        };
        /**
         * ContextParallel
         * @description How a lane of several GPUs computes one prediction.
         * @enum {string}
         */
        readonly ContextParallel: "auto" | "off" | "ulysses";
        /**
         * CostsEvent
         * @description Costs of work on this run's lanes, as measured in `batch` complete batches; a later event replaces it.
         */
        readonly CostsEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "costs";
            readonly batch: number;
            readonly costs: readonly components["schemas"]["WorkCost"][];
        };
        /**
         * CostsFields
         * @description Costs of work on this run's lanes, as measured in `batch` complete batches; a later event replaces it.
         */
        readonly CostsFields: {
            readonly batch: number;
            readonly costs: readonly components["schemas"]["WorkCost"][];
        };
        /**
         * CostsItem
         * @description A `costs` event in the stream.
         */
        readonly CostsItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "costs";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["CostsFields"];
        };
        readonly CreatedToken: {
            /** @description The token's first characters. */
            readonly id: string;
            readonly name: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at: string | null;
            /**
             * Format: date-time
             * @description To the minute; null for one never used.
             */
            readonly last_used_at: string | null;
            readonly scopes: readonly components["schemas"]["TokenScope"][];
            /** @description Ids of the projects that it is limited to; null for every project of its user. */
            readonly projects: readonly string[] | null;
            /** @description Names of the pools that it is limited to; empty for every pool. */
            readonly pools: readonly string[];
            /** @description The token itself. It is shown this once; only its hash is kept. */
            readonly token: string;
        };
        /** @description The only answer that shows a secret: of a webhook that was made, or whose secret was rotated. */
        readonly CreatedWebhook: {
            /** Format: uuid */
            readonly id: string;
            /**
             * Format: uuid
             * @description Null for the pool's.
             */
            readonly project: string | null;
            readonly name: string;
            /** @description `standard` is signed JSON, as standardwebhooks.com describes. */
            readonly form: components["schemas"]["MessageForm"];
            /** @description A URL, or an e-mail address for `email`. */
            readonly address: string;
            readonly events: readonly components["schemas"]["HookEvent"][];
            readonly is_active: boolean;
            /** @description Why it was switched off by itself; empty where a user did it. */
            readonly off_reason: string;
            /**
             * Format: date-time
             * @description Since when nothing has got through; null where the last try did.
             */
            readonly failing_since: string | null;
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation signs too; null where it does not.
             */
            readonly former_secret_until: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** @description Signs its messages; `whsec_` and base64. */
            readonly secret: string;
        };
        /** Curves */
        readonly Curves: {
            /** @description Curves by the metric's name. */
            readonly series: {
                readonly [key: string]: components["schemas"]["Series"];
            };
            /** @description Every metric that the run has reported, those that were not asked for included. */
            readonly keys: readonly string[];
            /** @description Number of the newest item read; the socket sends what follows. */
            readonly stream_seq: number;
        };
        /** @description The usage of each day in a window. */
        readonly DailyUsage: {
            /** @description Days of UTC. */
            readonly days: readonly string[];
            /** @description Most GPU hours first; what is too small to be told apart comes last. */
            readonly rows: readonly components["schemas"]["DailyUsageRow"][];
        };
        /** @description What one project, user, card, … used each day. */
        readonly DailyUsageRow: {
            /** @description Id of what was summed over; empty for several together. */
            readonly key: string;
            readonly name: string;
            readonly lane_hours: readonly number[];
            readonly gpu_hours: readonly number[];
            /** @description 0 where the GPUs had no price. */
            readonly cost: readonly number[];
        };
        /**
         * DanceGrpoSpec
         * @description DanceGRPO (arXiv 2505.07818): a group shares its initial noise, the noise strength is constant, and a random part
         *     of the stochastic steps is trained on. Published for pictures and clips.
         */
        readonly DanceGrpoSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
             *     uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
             *     reward rises while pictures get worse.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description Bound on the ratio of new to old likelihood: it is clipped to 1 ± this. So small a number is right because
             *     log-probs are means over all latent dimensions: 1e-4 is usual, 1e-5 for Flow-GRPO-Fast, 1e-3 for Wan. Raise it when
             *     most ratios are clipped and the reward hardly moves; lower it when the reward collapses.
             * @default 0.0001
             */
            readonly clip_range: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "dance_grpo";
            /**
             * @description Start all trajectories of a group from the same initial noise, so that they differ by the noise of their
             *     stochastic steps alone. On is the paper's choice: rewards then compare the steps that are trained on. Off gives
             *     groups more variety.
             * @default true
             */
            readonly shared_initial_noise: boolean;
            /**
             * @description Share of the stochastic denoising steps that is trained on, drawn for each group. 0.6 is the paper's; training
             *     time grows in proportion.
             * @default 0.6
             */
            readonly timestep_fraction: number;
        };
        /** @description Requests are refused at once while the database is away, by this process. */
        readonly DatabaseCircuit: {
            /**
             * Format: date-time
             * @description Null while the database answers.
             */
            readonly away_since: string | null;
            /** @description What was refused at once, since this process started. */
            readonly num_refused: number;
            /** @description Times that the database was found to be away. */
            readonly num_failures: number;
        };
        /**
         * DeepSpeedSpec
         * @description How the trainer lanes share and save memory: DeepSpeed's ZeRO, offloading and recomputation.
         */
        readonly DeepSpeedSpec: {
            /**
             * @description Named DeepSpeed configuration: what is sharded over the trainer lanes, and what lies in host memory. Results are
             *     the same but for rounding; each step further saves memory and costs time. `zero0` or `zero1` is usual for LoRA,
             *     `zero2` or `zero3` for all weights; the plan beside the form says what fits.
             * @default zero0
             */
            readonly config: components["schemas"]["ZeroConfig"];
            /**
             * @description Changes to the configuration, one `path=value` a line, such as `zero_optimization.reduce_bucket_size=50000000`.
             *     Usually empty. Smaller buckets save memory, larger ones use the network better; DeepSpeed's own documentation
             *     explains each setting.
             * @default []
             */
            readonly overrides: readonly string[];
            /**
             * @description Which transformer blocks are recomputed in the backward pass instead of keeping their activations: 0 none, 1 all,
             *     n every n-th. Empty: as few as each trainer lane's memory demands by the plan, which is usual. All costs about a
             *     third more training time than none; set it where the plan turns out wrong.
             * @default null
             */
            readonly gradient_checkpointing: number | null;
            /**
             * @description Move optimizer state and accumulated gradients to host memory while a trainer lane generates, and back before it
             *     trains. Turn it on when generation runs out of memory on colocated or lent trainer lanes; each switch of role then
             *     takes longer, by the bytes moved.
             * @default false
             */
            readonly offload_idle_states: boolean;
            /**
             * @description Shard the weights in host memory while the model is loaded, and only then move each shard to its device (ZeRO 3
             *     alone). Turn it on when loading a large model runs out of device memory; it loads more slowly.
             * @default false
             */
            readonly initialize_model_on_cpu: boolean;
        };
        /** @description What a deletion of it deletes, and no more than that. */
        readonly DeletionPreview: {
            /**
             * Format: uuid
             * @description What `POST /retention:delete` names, within a day.
             */
            readonly id: string;
            /** Format: date-time */
            readonly made_at: string;
            readonly kinds: readonly components["schemas"]["KindPastDays"][];
            /** @description By run and kind, the run that ended first at the beginning. */
            readonly shares: readonly components["schemas"]["SharePastDays"][];
            /** @description Past their days too, but too many for one preview; the next one has them. */
            readonly num_more_shares: number;
        };
        readonly DeletionRequest: {
            /**
             * Format: uuid
             * @description Id of the preview that you were shown.
             */
            readonly preview: string;
        };
        /** @description A message with all that became of it. */
        readonly Delivery: {
            /** Format: uuid */
            readonly id: string;
            /** @description The header `webhook-id`, the same in every try. */
            readonly message_id: string;
            /** @description `webhook.test` for a test. */
            readonly event: string;
            /** @description The message in the standard form. */
            readonly payload: {
                readonly [key: string]: unknown;
            };
            readonly state: components["schemas"]["DeliveryState"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly next_try_at: string | null;
            readonly tries: readonly components["schemas"]["DeliveryTry"][];
        };
        /** @description One page: A message with all that became of it. */
        readonly DeliveryPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Delivery"][];
        };
        /** @enum {string} */
        readonly DeliveryState: "waiting" | "delivered" | "failed";
        readonly DeliveryTry: {
            /** Format: date-time */
            readonly at: string;
            /** @description Null where no answer came, and for e-mail. */
            readonly status: number | null;
            readonly milliseconds: number;
            /** @description The beginning of the answer, or why there is none. */
            readonly answer: string;
        };
        /** @enum {string} */
        readonly DeviceEnum: "l40s" | "h100" | "h200" | "h20" | "cpu";
        /**
         * DiffusionDpoSpec
         * @description Online Diffusion-DPO (arXiv 2311.12908): trains the policy to prefer a group's best samples to its worst, with
         *     the same noise added to both. Uses the order of the rewards only.
         */
        readonly DiffusionDpoSpec: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "diffusion_dpo";
            /**
             * @description Weight of the preference against the distance to the base model, without unit. 100 is usual online, 2000 for
             *     training on fixed pairs (the paper). A larger one holds the policy nearer to the base model.
             * @default 100
             */
            readonly beta: number;
            /**
             * @description (best, worst) pairs of a group: the second pair is second best and second worst, and so on; at most half the
             *     group size. 1 gives the clearest preferences; more train on more of the samples that were generated.
             * @default 1
             */
            readonly num_preferences: number;
            /**
             * @description Noise levels at which each pair is compared, one drawn from each of as many equal parts of the schedule. Training
             *     time grows in proportion; more levels make the gradient less noisy.
             * @default 4
             */
            readonly num_noise_levels: number;
        };
        /**
         * DiffusionNftSpec
         * @description DiffusionNFT (arXiv 2509.16117): adds noise to finished samples and trains the velocity towards good samples and
         *     away from bad ones. An older adapter generates. Needs neither stochastic steps nor guidance.
         */
        readonly DiffusionNftSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the squared distance to the base model's velocity in the loss. 1e-4 is the paper's; 0 needs no forward
             *     pass of the base model. Raise it when the reward rises while pictures get worse.
             * @default 0.0001
             */
            readonly kl_coefficient: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "diffusion_nft";
            /**
             * @description How far the implied good and bad policies lie from the old one, without unit; smaller makes larger updates.
             *     1 is the paper's, 0.1 for OCR and for several rewards. Lower it when learning is slow.
             * @default 1
             */
            readonly beta: number;
            /**
             * @description Noise levels at which each sample is trained on, one drawn from each of as many equal parts of the schedule.
             *     Training time grows in proportion; more levels make the gradient less noisy.
             * @default 4
             */
            readonly num_noise_levels: number;
            /**
             * @description Growth of the share of itself that the old adapter keeps after each batch, per optimizer step: it keeps
             *     min(this × steps since `old_decay_hold`, `old_decay_cap`). 0.001 with a cap of 0.5 is the paper's fast schedule,
             *     0.0075 with a cap of 0.999 after 75 steps its slow one. 0 replaces the old adapter with the trained one at every
             *     batch.
             * @default 0.001
             */
            readonly old_decay_rate: number;
            /**
             * @description Largest share of itself that the old adapter keeps after a batch, from 0 to below 1. The paper's are 0.5 and
             *     0.999; a larger one makes the policy that generates follow more slowly, which is more stable.
             * @default 0.5
             */
            readonly old_decay_cap: number;
            /**
             * @description Optimizer steps from the start of the run during which the old adapter keeps nothing of itself. 0 is the paper's
             *     fast schedule, 75 its slow one.
             * @default 0
             */
            readonly old_decay_hold: number;
        };
        readonly DownloadableFile: {
            /** @description Path within the version's folder. */
            readonly path: string;
            readonly num_bytes: number;
            readonly sha256: string;
            readonly url: string;
        };
        readonly DuplicateRequest: {
            readonly name?: string;
            /** @description Default: the run's own. */
            readonly spec?: unknown;
        };
        /**
         * ElasticSpec
         * @description How far the pool may shrink and grow the run while it works, in lanes of each role.
         *
         *     All empty: the run keeps the lanes that it began with. For colocated and auto placement the bounds of rollout and
         *     trainer lanes are added up, as the lanes are.
         */
        readonly ElasticSpec: {
            /**
             * @description Fewest lanes that generate: the pool may take the others for runs that are entitled to them. Empty:
             *     `lanes.num_rollout`, so none is taken. Lanes join and leave between fragments, which costs seconds.
             * @default null
             */
            readonly min_rollout: number | null;
            /**
             * @description Most lanes that generate: the run may borrow idle lanes of the pool up to this number. Empty:
             *     `lanes.num_rollout`, so none is borrowed. Worth raising where trainer lanes wait for fragments.
             * @default null
             */
            readonly max_rollout: number | null;
            /**
             * @description Fewest lanes that train. Empty: `lanes.num_trainer`. Each change goes through a checkpoint and new processes,
             *     which costs minutes with large models, so leave it empty unless lanes are scarce.
             * @default null
             */
            readonly min_trainer: number | null;
            /**
             * @description Most lanes that train. Empty: `lanes.num_trainer`. Each change goes through a checkpoint and new processes, so
             *     allow it for long runs with much training only.
             * @default null
             */
            readonly max_trainer: number | null;
            /**
             * @description Fewest lanes that score. Empty: `lanes.num_reward`. Reward lanes join and leave between fragments.
             * @default null
             */
            readonly min_reward: number | null;
            /**
             * @description Most lanes that score. Empty: `lanes.num_reward`. Worth raising where other lanes wait for rewards.
             * @default null
             */
            readonly max_reward: number | null;
        };
        /**
         * EmaSpec
         * @description An exponential moving average (EMA) of the trained weights. Evaluation, requested samples and the exported
         *     weights use the average; training samples come from the policy itself.
         */
        readonly EmaSpec: {
            /**
             * @description Share of itself that the average keeps at each update, from 0 to below 1; 0 keeps no average. Flow-GRPO uses 0.9
             *     with an update every 8 optimizer steps. Use it where evaluation jumps from batch to batch; it costs one more copy of
             *     the trained weights.
             * @default 0
             */
            readonly decay: number;
            /**
             * @description Optimizer steps between two updates of the average. 8 is Flow-GRPO's. Fewer steps, or a smaller decay, make the
             *     average follow the policy more closely.
             * @default 8
             */
            readonly every_num_optimizer_steps: number;
        };
        /**
         * @description States of a run that has ended; a stopped one can be resumed.
         * @enum {string}
         */
        readonly EndState: "cancelled" | "completed" | "failed" | "stopped";
        /**
         * EndedResize
         * @description A resize at the moment when it was done or had failed.
         */
        readonly EndedResize: {
            readonly at: number;
            readonly resize: components["schemas"]["ResizeReport"];
        };
        /**
         * EvaluationEvent
         * @description Mean rewards of a held-out evaluation after `batch` complete batches, by reward; `reward` is the weighted sum.
         */
        readonly EvaluationEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "evaluation";
            readonly batch: number;
            readonly policy_version: number;
            readonly num_samples: number;
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /**
         * EvaluationFields
         * @description Mean rewards of a held-out evaluation after `batch` complete batches, by reward; `reward` is the weighted sum.
         */
        readonly EvaluationFields: {
            readonly batch: number;
            readonly policy_version: number;
            readonly num_samples: number;
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /**
         * EvaluationItem
         * @description A `evaluation` event in the stream.
         */
        readonly EvaluationItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "evaluation";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["EvaluationFields"];
        };
        /**
         * EvaluationSpec
         * @description Held-out evaluation: deterministic (ODE) sampling on seeds that training never uses, at the start, at the end and
         *     in between.
         */
        readonly EvaluationSpec: {
            /**
             * @description Batches between two evaluations. 10 to 20 is usual; each evaluation occupies the rollout lanes for
             *     `num_samples_per_prompt` × prompts samples. Empty: only at the start and at the end.
             * @default 10
             */
            readonly every_num_batches: number | null;
            /**
             * @description Samples of each evaluation prompt, from seeds that training never uses and that stay the same all through the
             *     run. 4 for a few prompts, 1 for dozens. More samples make the curve less noisy and the evaluation longer.
             * @default 4
             */
            readonly num_samples_per_prompt: number;
            /**
             * @description Prompts to evaluate on, one a line. Empty: the first 64 training prompts at most, on seeds of evaluation. Give
             *     prompts that are not trained on to see whether what is learnt carries over.
             * @default []
             */
            readonly prompts: readonly components["schemas"]["Prompt"][];
        };
        /**
         * Failure
         * @description Why a run failed, and what to try; `runs.attempts.failure` finds it.
         */
        readonly Failure: {
            /** @description One sentence with the field, the value and what to do. */
            readonly reason: string;
            /** @description What the driver was doing when it failed; empty if unknown. */
            readonly phase: components["schemas"]["Phase"] | "";
            /** @description The end of the traceback, or of what the driver reported. */
            readonly details: string;
            /** @description The last log lines of the driver's job. */
            readonly log_tail: string;
            readonly suggestions: readonly string[];
        };
        /**
         * FloatRange
         * @description A number between two others, both included. `log_uniform` spreads evenly over orders of magnitude.
         */
        readonly FloatRange: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "log_uniform" | "uniform";
            readonly low: number;
            readonly high: number;
            /**
             * @description How many values a grid takes, the ends included. Not for a random sampler.
             * @default null
             */
            readonly num_values: number | null;
        };
        /**
         * FlowDppoSpec
         * @description Flow-DPPO (arXiv 2606.11025): Flow-GRPO without a clip. Steps whose divergence from the old policy is above a
         *     bound get no gradient that would increase it.
         */
        readonly FlowDppoSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
             *     uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
             *     reward rises while pictures get worse.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "flow_dppo";
            /**
             * @description Bound on the divergence of a denoising step from the old policy, mean((μ − μ_old)²) / (2 std²), without unit.
             *     1e-5 is the paper's. Raise it when most steps are masked (the clip fraction counts them); lower it when the reward
             *     collapses.
             * @default 0.00001
             */
            readonly divergence_bound: number;
        };
        /**
         * FlowGrpoFastSpec
         * @description Flow-GRPO-Fast (github.com/yifan123/flow_grpo): stochastic in a short window that all trajectories of a group
         *     share, so training costs a fraction of Flow-GRPO's.
         */
        readonly FlowGrpoFastSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
             *     uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
             *     reward rises while pictures get worse.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description Bound on the ratio of new to old likelihood: it is clipped to 1 ± this. So small a number is right because
             *     log-probs are means over all latent dimensions: 1e-4 is usual, 1e-5 for Flow-GRPO-Fast, 1e-3 for Wan. Raise it when
             *     most ratios are clipped and the reward hardly moves; lower it when the reward collapses.
             * @default 0.0001
             */
            readonly clip_range: number;
            /**
             * @description Stochastic denoising steps of each trajectory, which are the ones trained on; all others are deterministic.
             *     2 or 3 learn as well as all steps in Flow-GRPO-Fast. Training time grows in proportion.
             * @default 2
             */
            readonly window_size: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "flow_grpo_fast";
            /**
             * @description Where a group's window lies among the steps of `sampling.sde_start` and `sampling.num_sde_steps`. `random`:
             *     drawn for each group; Flow-GRPO's recipes draw from the first half of the steps (set `sampling.num_sde_steps` to
             *     that). `first`: always at their start.
             * @default random
             * @enum {string}
             */
            readonly position: "random" | "first";
        };
        /**
         * FlowGrpoSpec
         * @description Flow-GRPO (arXiv 2505.05470): a clipped policy gradient on all stochastic denoising steps. The usual choice.
         */
        readonly FlowGrpoSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
             *     uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
             *     reward rises while pictures get worse.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description Bound on the ratio of new to old likelihood: it is clipped to 1 ± this. So small a number is right because
             *     log-probs are means over all latent dimensions: 1e-4 is usual, 1e-5 for Flow-GRPO-Fast, 1e-3 for Wan. Raise it when
             *     most ratios are clipped and the reward hardly moves; lower it when the reward collapses.
             * @default 0.0001
             */
            readonly clip_range: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "flow_grpo";
        };
        /** @enum {string} */
        readonly ForecastBasis: "measured" | "history" | "plan" | "stop_limit" | "unknown";
        readonly ForecastTimes: {
            /** Format: date-time */
            readonly earliest: string;
            /** Format: date-time */
            readonly likely: string;
            /** Format: date-time */
            readonly latest: string;
        };
        readonly Fragment: {
            readonly story: components["schemas"]["FragmentStory"];
            /** @description Those of its members that are stored, by member. */
            readonly samples: readonly components["schemas"]["Sample"][];
        };
        /**
         * FragmentStep
         * @description What one lane did of one kind of work; several spans of it are one step. Times are Unix seconds.
         */
        readonly FragmentStep: {
            readonly kind: components["schemas"]["SpanKind"];
            readonly lane: string;
            readonly start: number;
            readonly end: number;
            /** @description Time in the spans; less than from start to end where the lane did other work between. */
            readonly busy_seconds: number;
            readonly num_spans: number;
            /** @description Whether the work was on this fragment alone; false for training, which is recorded by group or batch. */
            readonly is_of_fragment: boolean;
        };
        /**
         * FragmentStory
         * @description One fragment of a training batch, from noise to gradient.
         */
        readonly FragmentStory: {
            /** @description Index of the batch, from 0, as spans count. */
            readonly batch: number;
            readonly group: number;
            readonly fragment: number;
            readonly attempt: number;
            /** @description Indices of its trajectories within the group. */
            readonly members: readonly number[];
            readonly policy_version: number | null;
            /** @description Null until the batch's groups are complete. */
            readonly prompt_index: number | null;
            readonly prompt: string;
            /** @description What became of the fragment's whole group; null until the batch's groups are complete. */
            readonly outcome: components["schemas"]["GroupOfBatch"] | null;
            /** @description In the order in which they began. */
            readonly steps: readonly components["schemas"]["FragmentStep"][];
        };
        /**
         * FreeLanes
         * @description Free lanes of the pool that could join the run in a role.
         */
        readonly FreeLanes: {
            readonly role: components["schemas"]["LaneRole"];
            /** @description Their accelerator, or `cpu`. */
            readonly device: string;
            readonly number: number;
        };
        /**
         * GateEvent
         * @description The result of the replay gate on a batch's first update, with the values that it compared.
         */
        readonly GateEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "gate";
            /** @constant */
            readonly gate: "replay";
            readonly batch: number;
            readonly passed: boolean;
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /**
         * GateFields
         * @description The result of the replay gate on a batch's first update, with the values that it compared.
         */
        readonly GateFields: {
            /** @constant */
            readonly gate: "replay";
            readonly batch: number;
            readonly passed: boolean;
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /**
         * GateItem
         * @description A `gate` event in the stream.
         */
        readonly GateItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "gate";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["GateFields"];
        };
        /**
         * GpuFaults
         * @description What the driver has counted against a GPU since it was loaded.
         */
        readonly GpuFaults: {
            /**
             * @description By Xid code: how often it was seen since the agent started.
             * @default {}
             */
            readonly xids: {
                readonly [key: string]: number;
            };
            /** @default null */
            readonly ecc_corrected: number | null;
            /** @default null */
            readonly ecc_uncorrected: number | null;
            /**
             * @description Rows of memory replaced by spares after uncorrectable errors.
             * @default null
             */
            readonly remapped_rows: number | null;
            /**
             * @description Pages of memory taken out of use after errors, on cards without spare rows: NVIDIA's before Ampere, and AMD's.
             * @default null
             */
            readonly retired_pages: number | null;
            /**
             * @description Rows wait for a reset to be replaced, or pages to be taken out of use.
             * @default false
             */
            readonly remap_pending: boolean;
            /**
             * @description No spare row is left, or more pages are bad than the vendor allows: the card must be replaced.
             * @default false
             */
            readonly remap_failed: boolean;
            /**
             * @description Why its clocks are below what they could be, now; idling is no reason.
             * @default []
             */
            readonly throttle_reasons: readonly string[];
            /** @default null */
            readonly pcie_replays: number | null;
            /**
             * @description Errors of checksums, replays and recoveries of all its NVLink links.
             * @default null
             */
            readonly nvlink_errors: number | null;
            /**
             * @description What the driver itself says that the card needs, such as `reset GPU`; empty for nothing.
             * @default
             */
            readonly recovery_action: string;
            /**
             * @description The driver lists the card no more, fails to reach it, or cannot use it before a reset.
             * @default false
             */
            readonly is_lost: boolean;
        };
        /** @description One change of a GPU's health. */
        readonly GpuHealth: {
            readonly id: number;
            /** Format: date-time */
            readonly at: string;
            readonly health: components["schemas"]["HealthEnum"];
            /** @description The worst first. */
            readonly causes: readonly string[];
            /** @description What its vendor recommends; `none` for nothing. */
            readonly remedy: string;
            /** @description What its driver had counted. */
            readonly faults: components["schemas"]["GpuFaults"];
            /**
             * Format: uuid
             * @description The run that held its lane, if you may open it.
             */
            readonly run_id: string | null;
            /** @description Empty where no run held it. */
            readonly run_name: string;
        };
        /** @description One page: One change of a GPU's health. */
        readonly GpuHealthPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["GpuHealth"][];
        };
        /**
         * GpuIdentity
         * @description What a GPU is; changes only with its driver.
         */
        readonly GpuIdentity: {
            /** @description As its driver reports it; of a MIG slice, the slice's own. */
            readonly uuid: string;
            /** @description Its index on the node, in the order of PCI addresses; MIG slices have that of their card. */
            readonly index: number;
            readonly vendor: components["schemas"]["Vendor"];
            /** @description The product name, by which the planner finds its hardware profile. */
            readonly model: string;
            /** @default  */
            readonly architecture: string;
            /**
             * @description `major.minor`; of an AMD GPU the target, such as `gfx942`.
             * @default
             */
            readonly compute_capability: string;
            /** @default null */
            readonly memory_bytes: number | null;
            /**
             * @description `domain:bus:device.function` in lower case, as Linux writes it.
             * @default
             */
            readonly pci_address: string;
            /**
             * @description Version of the kernel driver.
             * @default
             */
            readonly driver: string;
            /**
             * @description Newest version of CUDA or ROCm that the driver serves.
             * @default
             */
            readonly runtime: string;
            /**
             * @description The highest clock of its cores, in megahertz; below it under load something holds the card back.
             * @default null
             */
            readonly max_sm_clock: number | null;
            /**
             * @description Of a MIG slice: the card that it is part of.
             * @default
             */
            readonly parent_uuid: string;
            /**
             * @description Of a card without a hardware profile, once its node has measured it.
             * @default null
             */
            readonly figures: components["schemas"]["CardFigures"] | null;
        };
        /**
         * GpuLive
         * @description What a GPU does now.
         */
        readonly GpuLive: {
            /**
             * @description Share of the last sampling period in which a kernel ran.
             * @default null
             */
            readonly utilisation: number | null;
            /** @default null */
            readonly memory_used_bytes: number | null;
            /** @default null */
            readonly temperature: number | null;
            /** @default null */
            readonly memory_temperature: number | null;
            /** @default null */
            readonly power: number | null;
            /** @default null */
            readonly power_limit: number | null;
            /**
             * @description Since the driver was loaded.
             * @default null
             */
            readonly energy_joules: number | null;
            /** @default null */
            readonly sm_clock: number | null;
            /** @default null */
            readonly memory_clock: number | null;
            /**
             * @description Processes that hold memory on it.
             * @default null
             */
            readonly num_processes: number | null;
            /**
             * @description Sent and received over all its NVLink links, since the reading before.
             * @default null
             */
            readonly nvlink_bytes_per_second: number | null;
        };
        /** @description The last hours of a GPU, minute by minute; minutes without a report are left out. */
        readonly GpuMinutes: {
            /**
             * Format: double
             * @description For how long minutes are kept.
             */
            readonly kept_hours: number;
            /** @description Begin of each minute, in Unix seconds. */
            readonly at: readonly number[];
            /** @description Of each minute. */
            readonly num_readings: readonly number[];
            /** @description By field of `GpuLive`, in its unit; without those that the card never told. */
            readonly values: {
                readonly [key: string]: components["schemas"]["MinutesColumn"];
            };
            /** @description By reason: the share of each minute's readings in which the clocks were reduced. */
            readonly throttled: {
                readonly [key: string]: readonly number[];
            };
        };
        /** @description A test that a GPU must pass before it takes work again. */
        readonly GpuTest: {
            /** Format: uuid */
            readonly id: string;
            readonly state: components["schemas"]["GpuTestState"];
            readonly requested_by: string;
            /** Format: date-time */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description When its job was submitted.
             */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly ended_at: string | null;
            /** @description Name of the GPU that the all-reduce is with; empty for none. */
            readonly peer: string;
            /** @description Each step that has ended, in order. */
            readonly steps: readonly components["schemas"]["GpuTestStep"][];
            /** @description Why it failed, or what it waits for. */
            readonly reason: string;
            /** @description Tests before it whose jobs the cluster lost. */
            readonly num_repeats: number;
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
        };
        /** @description One page: A test that a GPU must pass before it takes work again. */
        readonly GpuTestPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["GpuTest"][];
        };
        readonly GpuTestRequest: {
            /** @description Shown to everybody. */
            readonly reason: string;
        };
        /** @enum {string} */
        readonly GpuTestState: "queued" | "running" | "passed" | "failed";
        /**
         * GpuTestStep
         * @description One step of a test that has ended.
         */
        readonly GpuTestStep: {
            readonly name: components["schemas"]["GpuTestStepName"];
            readonly outcome: components["schemas"]["StepOutcome"];
            readonly seconds: number;
            /**
             * @description What was measured, or what went wrong, as a sentence.
             * @default
             */
            readonly detail: string;
        };
        /**
         * GpuTestStepName
         * @enum {string}
         */
        readonly GpuTestStepName: "device" | "matrix_product" | "memory_sweep" | "engine" | "all_reduce";
        /**
         * GpuTopology
         * @description How a GPU is linked to its node and to other GPUs.
         */
        readonly GpuTopology: {
            /**
             * @description The NUMA node of the host's memory that is nearest.
             * @default null
             */
            readonly numa_node: number | null;
            /**
             * @description UUIDs of the GPUs that it reaches over NVLink or xGMI, directly or through a switch.
             * @default []
             */
            readonly nvlink_peers: readonly string[];
            /**
             * @description Active NVLink links; fewer than on its peers means a link that is down.
             * @default null
             */
            readonly num_nvlinks_up: number | null;
        };
        /** @description The time for which one holder had the lane of a GPU. Runs of projects that you may not see are not named. */
        readonly GpuUse: {
            readonly id: number;
            readonly lane: string;
            /**
             * Format: uuid
             * @description Null for tests, and for a run that you may not open.
             */
            readonly run_id: string | null;
            /** @description Empty for tests. */
            readonly run_name: string;
            readonly project: string;
            /** @description Who created the run or asked for the preview. */
            readonly user: string;
            /** @description The lane's role in the run; `preview` and `test` for such holders. */
            readonly role: string;
            /** Format: date-time */
            readonly since: string;
            /**
             * Format: date-time
             * @description Null while the lane is held.
             */
            readonly until: string | null;
        };
        /** @description One page: The time for which one holder had the lane of a GPU. Runs of projects that you may not see are not named. */
        readonly GpuUsePage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["GpuUse"][];
        };
        /** @description Several GPUs that are to be tested. */
        readonly GpusToTest: {
            readonly gpus: readonly number[];
            /** @description Shown to everybody. */
            readonly reason: string;
        };
        /**
         * GradedPlanStep
         * @description One of the plans that a run has worked by, and what came of it.
         */
        readonly GradedPlanStep: {
            readonly attempt: number;
            readonly revision: number;
            readonly since_batch: number;
            readonly reason: string;
            readonly num_rollout: number;
            readonly num_trainer: number;
            readonly batch_seconds: number;
            readonly promise: components["schemas"]["PlanPromise"] | null;
            /** @description Mean seconds of the batches under the plan, its first left out; null before there is one. */
            readonly measured_seconds: number | null;
            /** @description Measured ÷ predicted seconds of a batch − 1: above 0 where batches took longer than predicted. */
            readonly relative_error: number | null;
        };
        /**
         * GroupOfBatch
         * @description What became of one group of a batch.
         */
        readonly GroupOfBatch: {
            /** @description The group's index in its batch, from 0. */
            readonly group: number;
            /** @description The prompt's index among the run's. */
            readonly prompt_index: number;
            /** @description Mean over all members that have a reward; null where none has. */
            readonly mean_reward: number | null;
            /** @description Standard deviation over the same, of the population. */
            readonly reward_std: number;
            /** @description Whether some advantage of the group differs from 0: without that it teaches nothing. */
            readonly has_spread: boolean;
            /** @description Draws before this one that were dropped for want of spread. */
            readonly num_dropped_draws: number;
            /** @description Samples that lack a trained reward. */
            readonly num_missing: number;
            /** @description Fragments that were generated once more, because their lane was lost. */
            readonly num_repeated_fragments: number;
        };
        /**
         * GroupOutcome
         * @description What became of one group of a batch once all its samples were scored.
         */
        readonly GroupOutcome: {
            /** @description The prompt's index among the run's. */
            readonly prompt_index: number;
            /** @description Mean of the weighted sum of the trained rewards; `None` where no sample has one. */
            readonly mean_reward: number | null;
            /** @description Standard deviation of the same, of the population. */
            readonly reward_std: number;
            /** @description Whether some advantage of the group differs from 0: without that it teaches nothing. */
            readonly has_spread: boolean;
            /**
             * @description Draws before this one that were dropped for want of spread (`batch.max_resamples`).
             * @default 0
             */
            readonly num_dropped_draws: number;
            /**
             * @description Samples that lack a trained reward.
             * @default 0
             */
            readonly num_missing: number;
            /**
             * @description Fragments that were generated once more, because their lane was lost.
             * @default 0
             */
            readonly num_repeated_fragments: number;
        };
        /**
         * GroupsEvent
         * @description What became of every group of a batch, in index order.
         */
        readonly GroupsEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "groups";
            readonly batch: number;
            readonly groups: readonly components["schemas"]["GroupOutcome"][];
        };
        /**
         * GroupsFields
         * @description What became of every group of a batch, in index order.
         */
        readonly GroupsFields: {
            readonly batch: number;
            readonly groups: readonly components["schemas"]["GroupOutcome"][];
        };
        /**
         * GroupsItem
         * @description A `groups` event in the stream.
         */
        readonly GroupsItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "groups";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["GroupsFields"];
        };
        /**
         * GrpoGuardSpec
         * @description GRPO-Guard (arXiv 2510.22319): Flow-GRPO with ratios that are centred at 1 and equally scaled at all denoising
         *     steps, so that one clip range suits all of them. Made against over-optimisation.
         */
        readonly GrpoGuardSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
             *     uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
             *     reward rises while pictures get worse.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "grpo_guard";
            /**
             * @description Bound on the centred and scaled ratio: it is clipped to 1 ± this. 2e-6 is the paper's, smaller than Flow-GRPO's
             *     because the scaling shrinks the ratio's deviations. Raise it when most ratios are clipped and the reward hardly
             *     moves.
             * @default 0.000002
             */
            readonly clip_range: number;
        };
        /**
         * Headline
         * @description Held-out evaluation at the run's beginning and now; values that were not evaluated yet are absent. A run begins
         *     with the untrained policy, a fork with that of its checkpoint.
         */
        readonly Headline: {
            /** @description Weighted held-out reward at the beginning. */
            readonly reward_before?: number | null;
            /** @description Weighted held-out reward of the newest evaluation. */
            readonly reward_after?: number | null;
            /** @description All held-out means at the beginning, by reward. */
            readonly before?: {
                readonly [key: string]: number;
            };
            /** @description All held-out means of the newest evaluation, by reward. */
            readonly after?: {
                readonly [key: string]: number;
            };
            /** @description Complete batches before the newest evaluation. */
            readonly batch_after?: number;
            /** @description Samples of the first evaluation. */
            readonly num_samples?: number;
        };
        /** @enum {string} */
        readonly HealthEnum: "healthy" | "warning" | "failed";
        /**
         * HeartbeatFrame
         * @description Sent on every socket at a fixed interval, so that a client notices a connection that died without a word.
         */
        readonly HeartbeatFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "heartbeat";
            /** @description The server's clock, in Unix seconds. */
            readonly now: number;
        };
        /**
         * HelloFrame
         * @description The first frame of a run's socket.
         */
        readonly HelloFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "hello";
            /** @description Number of the run's newest item. */
            readonly stream_seq: number;
            /** @description The server's clock, in Unix seconds. */
            readonly now: number;
        };
        /** @description A run that holds lanes of a pool. */
        readonly HoldingRun: {
            /** Format: uuid */
            readonly run_id: string;
            readonly run_name: string;
            readonly num_lanes: number;
        };
        readonly Home: {
            readonly groups: readonly components["schemas"]["HomeGroup"][];
            readonly alerts: readonly components["schemas"]["HomeAlert"][];
            /**
             * Format: date-time
             * @description When the node agent last reported.
             */
            readonly pool_reported_at: string | null;
            /**
             * Format: date-time
             * @description The server's clock.
             */
            readonly now: string;
        };
        readonly HomeAlert: {
            readonly text: string;
            /** @description Address of the page on which to look into it. */
            readonly page: string;
        };
        readonly HomeGroup: {
            /** @description `failed` and `finished` are those of the last 7 days. */
            readonly group: components["schemas"]["HomeGroupGroupEnum"];
            readonly number: number;
            readonly number_mine: number;
            /** @description Some of them: your own newest, then those of others. */
            readonly rows: readonly components["schemas"]["HomeRun"][];
        };
        /** @enum {string} */
        readonly HomeGroupGroupEnum: "running" | "waiting" | "failed" | "finished";
        readonly HomeRun: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly project: string;
            readonly created_by: string | null;
            readonly is_mine: boolean;
            readonly state: components["schemas"]["RunState"];
            /** Format: date-time */
            readonly state_changed_at: string;
            readonly num_batches: number;
            readonly num_batches_done: number;
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly ended_at: string | null;
            /** Format: date-time */
            readonly last_heartbeat_at: string | null;
            /** @description Why it waits, failed, or is warned of; empty for nothing. */
            readonly note: string;
        };
        /** @enum {string} */
        readonly HookEvent: "run.started" | "run.resumed" | "run.restarted" | "run.paused" | "run.completed" | "run.stopped" | "run.cancelled" | "run.failed" | "sweep.finished" | "reward_hacking.suspected" | "reward_hacking.over" | "budget.near" | "budget.spent" | "gpu.faulty" | "gpu.lost" | "gpu.found" | "node.lost" | "node.found";
        /**
         * HpsV2Settings
         * @description HPS v2 (arXiv 2306.09341): CLIP-H trained on ranked pictures.
         */
        readonly HpsV2Settings: {
            /**
             * @description Weights of HPS v2 as a transformers CLIP: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
             *     The default is a conversion of the authors' checkpoint; deploy/docs/guides/rewards.md says how to convert others.
             * @default adams-story/HPSv2-hf
             */
            readonly weights: string;
            /**
             * @description Pictures, or frames of clips, in one forward pass of the scorer. 16 fits beside other work on a GPU of 24 GB;
             *     lower it when the reward lane runs out of memory, raise it when scoring is slow on a GPU.
             * @default 16
             */
            readonly pictures_per_call: number;
            /**
             * @description Precision of the scorer's network. Empty: bf16 on a GPU, several times as fast, and fp32 on a CPU. Similarity,
             *     rating head and score are computed in fp32 either way. Take fp32 to compare scores with published ones to the last
             *     digit.
             * @default null
             */
            readonly dtype: ("fp32" | "bf16") | null;
        };
        /**
         * IdleCause
         * @enum {string}
         */
        readonly IdleCause: "dispatch" | "no_fragment_ready" | "head_of_line" | "group_incomplete" | "reward_pending" | "batch_barrier" | "gang_barrier" | "back_pressure" | "publish_wait" | "start_up" | "drain" | "failure" | "resize";
        /**
         * ImageRewardSettings
         * @description ImageReward (arXiv 2304.05977) is published as a pickle, which is refused: convert it once and give the folder as
         *     `weights` (deploy/docs/guides/rewards.md).
         */
        readonly ImageRewardSettings: {
            /**
             * @description Weights of the scorer's network: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
             *     Safetensors only. Change it to use a mirror or a model of the same architecture of your own.
             */
            readonly weights: string;
            /**
             * @description Pictures, or frames of clips, in one forward pass of the scorer. 16 fits beside other work on a GPU of 24 GB;
             *     lower it when the reward lane runs out of memory, raise it when scoring is slow on a GPU.
             * @default 16
             */
            readonly pictures_per_call: number;
            /**
             * @description Precision of the scorer's network. Empty: bf16 on a GPU, several times as fast, and fp32 on a CPU. Similarity,
             *     rating head and score are computed in fp32 either way. Take fp32 to compare scores with published ones to the last
             *     digit.
             * @default null
             */
            readonly dtype: ("fp32" | "bf16") | null;
        };
        /** @enum {string} */
        readonly ImportKind: "flow_grpo" | "diffusers";
        readonly ImportedSpec: {
            /** @description As what the text was read. */
            readonly kind: components["schemas"]["ImportKind"];
            /** @description The configurations of flow_grpo's file. */
            readonly functions: readonly string[];
            /** @description The spec's document, without prompts; of diffusers, without rewards too. */
            readonly spec: {
                readonly [key: string]: unknown;
            };
            /**
             * @description The same as YAML; empty where there is none.
             * @default
             */
            readonly yaml: string;
            readonly carried: readonly components["schemas"]["CarriedSetting"][];
            readonly left_out: readonly components["schemas"]["LeftOutSetting"][];
        };
        /**
         * Inapplicable
         * @description One field that does not apply where other fields hold certain values, as the JSON schema carries it.
         */
        readonly Inapplicable: {
            /** @description Dotted path of the field; `*` stands for each item of a list. */
            readonly field: string;
            /**
             * @description Values by dotted path: the field does not apply where each of these paths holds one of its values. `*` stands
             *     for the same item as in `field`.
             */
            readonly where: {
                readonly [key: string]: readonly (string | number | boolean | null)[];
            };
            /** @description The reason, a sentence for the user. */
            readonly why: string;
            /** @description The only value that validation accepts there; absent where any value is accepted and none has an effect. */
            readonly must_be?: string | number | boolean | null;
        };
        /**
         * IntRange
         * @description A whole number between two others, both included where `step` leads to them.
         */
        readonly IntRange: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "int";
            readonly low: number;
            readonly high: number;
            /** @default 1 */
            readonly step: number;
        };
        /**
         * ItemsFrame
         * @description New items of a run's stream, each number once and in order.
         */
        readonly ItemsFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "items";
            readonly items: readonly (components["schemas"]["LanesItem"] | components["schemas"]["LaneStartItem"] | components["schemas"]["LaneStallItem"] | components["schemas"]["OutOfMemoryItem"] | components["schemas"]["SlowLanesItem"] | components["schemas"]["LendItem"] | components["schemas"]["PhaseItem"] | components["schemas"]["StateItem"] | components["schemas"]["ResumedItem"] | components["schemas"]["MetricsItem"] | components["schemas"]["SpansItem"] | components["schemas"]["SamplesItem"] | components["schemas"]["EvaluationItem"] | components["schemas"]["StalenessItem"] | components["schemas"]["GroupsItem"] | components["schemas"]["PublishItem"] | components["schemas"]["AdapterItem"] | components["schemas"]["CheckpointItem"] | components["schemas"]["GateItem"] | components["schemas"]["RewardHackingItem"] | components["schemas"]["QueueItem"] | components["schemas"]["CostsItem"] | components["schemas"]["PlanItem"] | components["schemas"]["SoftwareItem"] | components["schemas"]["LogItem"] | components["schemas"]["CommandDoneItem"] | components["schemas"]["TransitionItem"] | components["schemas"]["CommandItem"])[];
        };
        readonly JsonValue: Json;
        /** @description A kind of data, and for how long it is kept. */
        readonly KeptKind: {
            readonly kind: components["schemas"]["RetentionKind"];
            /** @description After the end of its run; 0: for good. */
            readonly days: number;
            /** @description The environment variable that says so. */
            readonly setting: string;
        };
        /** @description What of a kind would be deleted. */
        readonly KindPastDays: {
            readonly kind: components["schemas"]["RetentionKind"];
            /** @description 0: kept for good. */
            readonly days: number;
            readonly num_runs: number;
            readonly num_rows: number;
            readonly num_files: number;
            /** @description Of files, and about of rows: the mean of their table. */
            readonly num_bytes: number;
            /**
             * Format: date-time
             * @description End of the run that ended first; null for no run, as the next one.
             */
            readonly oldest_ended_at: string | null;
            /** Format: date-time */
            readonly newest_ended_at: string | null;
        };
        readonly LabelsToTry: {
            /** Format: int64 */
            readonly id: number;
            /** @description All labels. */
            readonly labels: {
                readonly [key: string]: string;
            };
        };
        readonly LaneAction: {
            readonly action: components["schemas"]["LaneActionKind"];
            /**
             * @description Required except for resume.
             * @default
             */
            readonly reason?: string;
            /**
             * Format: date-time
             * @description When maintenance ends by itself, or by when what is drained has to be empty.
             */
            readonly until?: string | null;
        };
        /** @enum {string} */
        readonly LaneActionKind: "cordon" | "resume";
        /** @description Lanes of a pool that are alike. */
        readonly LaneCount: {
            readonly kind: components["schemas"]["LaneKind"];
            /** @description Their accelerator, or `cpu`. */
            readonly device: string;
            readonly state: components["schemas"]["PoolState"];
            readonly number: number;
        };
        /**
         * LaneGrant
         * @description One lane that the pool allocated to this run: its role, its node, and its GPUs.
         */
        readonly LaneGrant: {
            /**
             * @description The lane's id within the run: `<role>-<index>`, of the role that it was granted for. It stays when the role
             *     changes, and is not given to another lane of the attempt.
             */
            readonly lane: string;
            /** @description What the lane does. */
            readonly role: components["schemas"]["LaneRole"];
            /** @description The name of its node. */
            readonly node: string;
            /**
             * @description Ray's id of its node, on which its process must run; empty where `resources` name the node.
             * @default
             */
            readonly ray_node_id: string;
            /**
             * @description Indices of its GPUs on their node, in the order of their PCI addresses; empty for a CPU slot.
             * @default []
             */
            readonly gpus: readonly number[];
            /**
             * @description UUIDs of the same GPUs; empty as long as their driver was not asked, and for devices whose libraries take indices
             *     only.
             * @default []
             */
            readonly uuids: readonly string[];
            /**
             * @description Custom Ray resources that its process occupies, one of each; each stands for one GPU or slot of a node.
             * @default []
             */
            readonly resources: readonly string[];
            /**
             * @description CPUs that Ray reserves for its process.
             * @default 0.5
             */
            readonly num_cpus: number;
            /**
             * @description Whether the pool may ask for it back at any time: it generates or scores, and no plan counts on it.
             * @default false
             */
            readonly is_borrowed: boolean;
            /**
             * @description The name of the planner's profile of its device, of a lane that joins a run at work; empty where it has none.
             * @default
             */
            readonly profile: string;
        };
        /**
         * LaneInfo
         * @description Where a lane was placed.
         */
        readonly LaneInfo: {
            readonly lane: string;
            readonly role: components["schemas"]["LaneRole"];
            readonly node: string;
            readonly device: string;
            readonly pid: number;
            /**
             * @description UUIDs of the accelerators that its process sees, by the process itself; empty before it has loaded, and where the
             *     vendor's library tells none.
             * @default []
             */
            readonly uuids: readonly string[];
            /**
             * @description The lane whose accelerator it computes on, beside that lane's own work.
             * @default null
             */
            readonly shares: string | null;
        };
        /** @enum {string} */
        readonly LaneKind: "gpu" | "cpu";
        /** @description A lane that would change its pool. */
        readonly LaneMove: {
            /** @description Its label. */
            readonly lane: string;
            readonly old: string;
            readonly new: string;
            /** @description Whether somebody holds it, who keeps it. */
            readonly is_held: boolean;
        };
        /** @description One page: A lane that would change its pool. */
        readonly LaneMovePage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["LaneMove"][];
        };
        /**
         * LaneProgress
         * @description How far one lane of a resize is.
         */
        readonly LaneProgress: {
            /** @description The lane's id. */
            readonly lane: string;
            /** @description Its role once the resize is done; null for a lane that leaves. */
            readonly role: components["schemas"]["LaneRole"] | null;
            /** @description How far it is. */
            readonly step: components["schemas"]["LaneStep"];
            /**
             * @description Why it could not be started, in one sentence.
             * @default
             */
            readonly detail: string;
            /**
             * @description Fragments that it had under way when its seconds were over, and that others do again.
             * @default 0
             */
            readonly num_dropped: number;
        };
        /**
         * LaneRole
         * @description What a lane does.
         * @enum {string}
         */
        readonly LaneRole: "rollout" | "trainer" | "reward";
        /**
         * LaneSeconds
         * @description Measured seconds of a unit of work by lane, in order of work and lane.
         */
        readonly LaneSeconds: {
            /** @description Complete batches in which they were measured; 0 before the first. */
            readonly num_batches: number;
            readonly seconds: readonly components["schemas"]["WorkSeconds"][];
        };
        /**
         * LaneSpec
         * @description Lanes that the run asks the pool for, by role. A lane is one GPU, or several of a node where a pool admin has set
         *     so, over which rollout lanes spread each prediction (`performance.context_parallel`) and which trainer lanes refuse;
         *     on a machine without GPUs it is one CPU slot. For colocated and auto placement, rollout and trainer lanes are added
         *     up: every colocated lane does both, and the planner makes a split of its own.
         */
        readonly LaneSpec: {
            /**
             * @description Lanes that generate. How many balance the trainer lanes depends on model, steps and algorithm: the plan shows the
             *     predicted bubbles, and `placement: auto` finds the split itself. 0 is possible with colocated placement only.
             * @default 1
             */
            readonly num_rollout: number;
            /**
             * @description Lanes that train, together as one gang (a torch.distributed group under DeepSpeed). Generation costs about a
             *     third as much as training for each denoising step, so trainer lanes are often the majority. More of them also leave
             *     less memory to each under ZeRO.
             * @default 1
             */
            readonly num_trainer: number;
            /**
             * @description Lanes that score. 1 is enough for rewards without networks; raise it when rollout or trainer lanes wait for
             *     rewards.
             * @default 1
             */
            readonly num_reward: number;
            /**
             * @description Pool that all of the lanes come from. Each has a queue and shares of its own. Nodes and GPUs are in a pool by
             *     their labels; `default` has the others.
             * @default default
             */
            readonly pool: string;
            /**
             * @description What reward lanes compute scorers' networks (CLIP, BLIP) on. `auto` is usual: the planner compares CPU slots with
             *     the GPUs of lanes that generate, and the plan says what it chose and why. `own_gpu` suits many GPUs, of which one in
             *     eight may score; rewards computed from pixels, and remote scorers, have no network and use CPU slots either way.
             * @default auto
             */
            readonly rewards_on: components["schemas"]["RewardDevice"];
        };
        /**
         * LaneStallEvent
         * @description A lane makes no progress with what it was called for, was ended for that, or goes on after all.
         */
        readonly LaneStallEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lane_stall";
            readonly lane: string;
            readonly work: components["schemas"]["LaneWork"];
            readonly state: components["schemas"]["StallState"];
            /** @description Unix time of the last sign of progress. */
            readonly since: number;
            /** @description After so many seconds without one its process is ended. */
            readonly limit_seconds: number;
            /**
             * @description What the longest such call took that was measured; empty before the first has ended.
             * @default null
             */
            readonly longest_seconds: number | null;
            /**
             * @description Where in its program the lane is, the innermost call last; empty while its process does not answer.
             * @default []
             */
            readonly stack: readonly string[];
        };
        /**
         * LaneStallFields
         * @description A lane makes no progress with what it was called for, was ended for that, or goes on after all.
         */
        readonly LaneStallFields: {
            readonly lane: string;
            readonly work: components["schemas"]["LaneWork"];
            readonly state: components["schemas"]["StallState"];
            /** @description Unix time of the last sign of progress. */
            readonly since: number;
            /** @description After so many seconds without one its process is ended. */
            readonly limit_seconds: number;
            /**
             * @description What the longest such call took that was measured; empty before the first has ended.
             * @default null
             */
            readonly longest_seconds: number | null;
            /**
             * @description Where in its program the lane is, the innermost call last; empty while its process does not answer.
             * @default []
             */
            readonly stack: readonly string[];
        };
        /**
         * LaneStallItem
         * @description A `lane_stall` event in the stream.
         */
        readonly LaneStallItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lane_stall";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["LaneStallFields"];
        };
        /**
         * LaneStartEvent
         * @description Lanes are a step further on their way to work: at a run's start, and where a process is started anew. Trainer
         *     lanes are ready together, since they form one process group.
         */
        readonly LaneStartEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lane_start";
            readonly step: components["schemas"]["StartStep"];
            readonly lanes: readonly string[];
        };
        /**
         * LaneStartFields
         * @description Lanes are a step further on their way to work: at a run's start, and where a process is started anew. Trainer
         *     lanes are ready together, since they form one process group.
         */
        readonly LaneStartFields: {
            readonly step: components["schemas"]["StartStep"];
            readonly lanes: readonly string[];
        };
        /**
         * LaneStartItem
         * @description A `lane_start` event in the stream.
         */
        readonly LaneStartItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lane_start";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["LaneStartFields"];
        };
        /**
         * LaneStates
         * @description The lanes of a run by role and kind of span, in buckets of equal length.
         */
        readonly LaneStates: {
            /**
             * @description Where the first bucket begins, in Unix seconds: at the window's start, or where buckets are long up to one
             *     earlier.
             */
            readonly start: number;
            readonly bucket_seconds: number;
            /** @description As many as asked for; where buckets are long perhaps fewer. */
            readonly num_buckets: number;
            readonly roles: readonly components["schemas"]["RoleStates"][];
            /** @description Number of the newest item read. */
            readonly stream_seq: number;
        };
        /**
         * LaneStep
         * @description How far a lane of a resize is.
         * @enum {string}
         */
        readonly LaneStep: "waiting" | "starting" | "leaving" | "joined" | "kept" | "released" | "given_up";
        /**
         * LaneWork
         * @description What a driver has called on a lane.
         * @enum {string}
         */
        readonly LaneWork: "start" | "load" | "identify" | "switch" | "pull" | "generate" | "score" | "accumulate" | "commit" | "snapshot" | "broadcast" | "publish" | "checkpoint" | "restore" | "export";
        /**
         * LanesEvent
         * @description All lanes of the run, and the batch algebra; a later event replaces it. It comes when lanes are placed, and at
         *     each step of a resize.
         */
        readonly LanesEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lanes";
            readonly lanes: readonly components["schemas"]["LaneInfo"][];
            readonly algebra: components["schemas"]["BatchAlgebra"];
            /**
             * @description The resize under way, or the one that has just ended.
             * @default null
             */
            readonly resize: components["schemas"]["ResizeReport"] | null;
        };
        /**
         * LanesFields
         * @description All lanes of the run, and the batch algebra; a later event replaces it. It comes when lanes are placed, and at
         *     each step of a resize.
         */
        readonly LanesFields: {
            readonly lanes: readonly components["schemas"]["LaneInfo"][];
            readonly algebra: components["schemas"]["BatchAlgebra"];
            /**
             * @description The resize under way, or the one that has just ended.
             * @default null
             */
            readonly resize: components["schemas"]["ResizeReport"] | null;
        };
        /**
         * LanesItem
         * @description A `lanes` event in the stream.
         */
        readonly LanesItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lanes";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["LanesFields"];
        };
        readonly LanesToAskFor: {
            readonly num_rollout?: number;
            readonly num_trainer?: number;
            readonly num_reward?: number;
            readonly rewards_on?: components["schemas"]["RewardsOnEnum"];
            readonly pool?: string;
        };
        /**
         * LedgerEntry
         * @description A decision in the ledger.
         */
        readonly LedgerEntry: {
            readonly decision: number;
            readonly attempt: number;
            readonly batch: number;
            readonly at: number;
            readonly lanes: readonly string[];
            readonly num_fragments: number;
            readonly predicted_gain_seconds: number | null;
            readonly least_gain_seconds: number | null;
            readonly settled_at: number | null;
            readonly realised_gain_seconds: number | null;
            /** @description Fragments that its lanes generated; fewer than allowed if the loan ended early. */
            readonly num_generated: number;
        };
        readonly LeftOutSetting: {
            /** @description The setting that was read. */
            readonly source: string;
            readonly value: unknown;
            readonly why: string;
        };
        /**
         * Lend
         * @description A lane lent from one time to another. What is not known, or not known yet, is null.
         */
        readonly Lend: {
            readonly id: string;
            readonly kind: components["schemas"]["LendKind"];
            /** @description The lane's label in the pool; empty where no record says which lane it was. */
            readonly lane: string;
            /** @description Its id within the borrowing run. */
            readonly lane_in_run: string;
            /** @description Names of its GPUs; empty for a CPU slot. */
            readonly gpus: readonly string[];
            /** @description What it did for the borrower. */
            readonly role: components["schemas"]["LaneRole"];
            readonly lender_kind: components["schemas"]["LenderKind"];
            /** @description Name of the lending project or run; empty for the pool. */
            readonly lender: string;
            readonly lender_project: string | null;
            /** @description The borrower; null for a run that you may not see. */
            readonly run: string | null;
            readonly run_name: string;
            readonly attempt: number;
            /** @description The borrower's project; null where you may not see it. */
            readonly project: string | null;
            /** Format: date-time */
            readonly begin: string;
            /** @description Null while it is lent. */
            readonly end: string | null;
            /** @description Why it was lent. */
            readonly reason: string;
            /** @description Why it ended, or is about to. */
            readonly end_reason: string;
            /** @description The run that it was asked back for. */
            readonly for_run: string | null;
            readonly for_run_name: string;
            /** @description When it was asked back; null if it was not. */
            readonly notice_at: string | null;
            /** @description Seconds within which it had to be given back. */
            readonly bound_seconds: number | null;
            /** @description Seconds from the notice until it was free. */
            readonly return_seconds: number | null;
            /** @description Fragments dropped at the bound, which others drew again from the same seeds. */
            readonly num_dropped: number;
            /** @description Seconds that the lane spent on joining and leaving, or on switching its role. */
            readonly switch_seconds: number | null;
            /** @description Samples that it generated or scored for the borrower. */
            readonly num_samples: number | null;
            /**
             * @description Seconds by which the borrower was predicted to get ahead through this lane. Between runs: over the stay that was
             *     expected, net of switching.
             */
            readonly predicted_gain_seconds: number | null;
            /**
             * @description The threshold when it was lent: for less it would not have been. Null between runs, where a loan must save a
             *     share of each batch, and where nothing was predicted.
             */
            readonly least_gain_seconds: number | null;
            /**
             * @description Seconds by which it did. Between runs: by the whole batches of the loan, of which each is compared with the run's
             *     batches without borrowed lanes, net of switching, shared by the lanes on loan; so far, while it is lent.
             */
            readonly realised_gain_seconds: number | null;
            /** @description Seconds of a batch as predicted with the lanes lent. */
            readonly predicted_batch_seconds: number | null;
            /** @description Median seconds of the whole batches of the loan. */
            readonly measured_batch_seconds: number | null;
            /** @description Seconds of a batch as predicted without them. */
            readonly predicted_batch_seconds_before: number | null;
            /** @description Median seconds of the run's batches without borrowed lanes. */
            readonly measured_batch_seconds_before: number | null;
        };
        /**
         * LendDecision
         * @description A decision to lend trainer lanes: the `lend` event that reported it, joined with the one that reported its
         *     gain.
         */
        readonly LendDecision: {
            /** @description Number of the decision. A driver that goes back to a checkpoint numbers its decisions from there again. */
            readonly decision: number;
            readonly attempt: number;
            readonly batch: number;
            /** @description Unix time of the decision, in seconds. */
            readonly at: number;
            readonly lanes: readonly string[];
            /** @description Fragments that each lane may generate. */
            readonly num_fragments: number;
            /** @description Seconds by which the open batches were predicted to end sooner; null without a prediction (greedy). */
            readonly predicted_gain_seconds: number | null;
            /**
             * @description The policy's threshold at that time: it would not have lent for less. Null without a prediction, and for what an
             *     older version reported.
             */
            readonly least_gain_seconds: number | null;
            /** @description Unix time at which the batches then open had ended, in seconds; null before. */
            readonly settled_at: number | null;
            /** @description Seconds by which they ended sooner; null until they ended. */
            readonly realised_gain_seconds: number | null;
        };
        /**
         * LendEvent
         * @description A decision to lend idle trainer lanes to generation. It is reported when made, and again when its gain is
         *     known.
         */
        readonly LendEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lend";
            /** @description Number of the decision within the run, from 1; both reports carry it. */
            readonly decision: number;
            readonly batch: number;
            /** @description The trainer lanes lent. */
            readonly lanes: readonly string[];
            /** @description Fragments that each lane may generate before the next decision on it. */
            readonly num_fragments: number;
            /**
             * @description Seconds by which the open batches were predicted to end sooner; empty if nothing was predicted (greedy).
             * @default null
             */
            readonly predicted_gain_seconds: number | null;
            /**
             * @description The threshold in force: for less the policy would not have lent. Empty if nothing was predicted (greedy).
             * @default null
             */
            readonly least_gain_seconds: number | null;
            /**
             * @description Predicted end without lending − actual end, in seconds; given once those batches have ended.
             * @default null
             */
            readonly realised_gain_seconds: number | null;
        };
        /**
         * LendFields
         * @description A decision to lend idle trainer lanes to generation. It is reported when made, and again when its gain is
         *     known.
         */
        readonly LendFields: {
            /** @description Number of the decision within the run, from 1; both reports carry it. */
            readonly decision: number;
            readonly batch: number;
            /** @description The trainer lanes lent. */
            readonly lanes: readonly string[];
            /** @description Fragments that each lane may generate before the next decision on it. */
            readonly num_fragments: number;
            /**
             * @description Seconds by which the open batches were predicted to end sooner; empty if nothing was predicted (greedy).
             * @default null
             */
            readonly predicted_gain_seconds: number | null;
            /**
             * @description The threshold in force: for less the policy would not have lent. Empty if nothing was predicted (greedy).
             * @default null
             */
            readonly least_gain_seconds: number | null;
            /**
             * @description Predicted end without lending − actual end, in seconds; given once those batches have ended.
             * @default null
             */
            readonly realised_gain_seconds: number | null;
        };
        /**
         * LendItem
         * @description A `lend` event in the stream.
         */
        readonly LendItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "lend";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["LendFields"];
        };
        /**
         * LendKind
         * @enum {string}
         */
        readonly LendKind: "between_runs" | "within_run";
        /**
         * LendSum
         * @description The lends of one project, run, lane or GPU in a window.
         */
        readonly LendSum: {
            /** @description Id, label or name of what was summed over; empty for the pool. */
            readonly key: string;
            readonly name: string;
            readonly num_lends: number;
            /** @description Lane time, inside the window or not; an open lend counts until now. */
            readonly lent_seconds: number;
            readonly switch_seconds: number;
            readonly num_samples: number;
            /** @description Lends that were asked back and are given back. */
            readonly num_returned: number;
            /** @description The longest time from notice to return. */
            readonly max_return_seconds: number | null;
            readonly num_dropped: number;
            /** @description Lends with both a predicted and a realised gain, which the next two sum up. */
            readonly num_graded: number;
            readonly predicted_gain_seconds: number;
            readonly realised_gain_seconds: number;
        };
        /**
         * LenderKind
         * @enum {string}
         */
        readonly LenderKind: "pool" | "project" | "run";
        /** Lending */
        readonly Lending: {
            /** @description The newest decisions, newest first. */
            readonly decisions: readonly components["schemas"]["LedgerEntry"][];
            readonly totals: components["schemas"]["LendingTotals"];
            readonly stream_seq: number;
        };
        /**
         * LendingTotals
         * @description Sums and means over all decisions of a run.
         */
        readonly LendingTotals: {
            readonly lent_seconds: number;
            readonly num_lent_fragments: number;
            readonly num_lent_samples: number;
            readonly switch_seconds: number;
            readonly num_switches: number;
            readonly num_decisions: number;
            /** @description Decisions with both a predicted and a realised gain; the means are over them. */
            readonly num_graded: number;
            readonly mean_predicted_gain_seconds: number | null;
            readonly mean_realised_gain_seconds: number | null;
        };
        /** Lineage */
        readonly Lineage: {
            /** @description Every run after its parent, and directly after it those that came from it, the latest fork first. */
            readonly runs: readonly components["schemas"]["LineageRun"][];
            /** @description Whether these are all; false where the lineage is longer than what is read. */
            readonly is_whole: boolean;
        };
        /**
         * LineageRun
         * @description One run of a lineage.
         */
        readonly LineageRun: {
            readonly id: string;
            readonly name: string;
            readonly state: components["schemas"]["RunState"];
            /** @description Id of the run that it was forked or duplicated from; null where that is not part of the lineage. */
            readonly parent: string | null;
            /** @description 0 for the run that was asked for, below 0 for those it came from, above 0 for those that came from it. */
            readonly generation: number;
            /** @description Complete batches of the parent's checkpoint that it began from; null for a run from the base model. */
            readonly forked_batch: number | null;
            readonly num_batches: number;
            readonly num_batches_done: number;
            /** @description Held-out reward of its newest evaluation. */
            readonly reward: number | null;
            /** @description Complete batches at that evaluation. */
            readonly evaluated_batch: number | null;
            /** @description Complete batches of its newest checkpoints, ascending; those whose files were removed included. */
            readonly checkpoints: readonly number[];
        };
        readonly ListedPromptSet: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            /** Format: uuid */
            readonly project: string;
            readonly num_prompts: number;
            /** @description At most three. */
            readonly first_prompts: readonly components["schemas"]["Prompt"][];
            /** Format: date-time */
            readonly created_at: string;
        };
        readonly ListedPromptSetPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["ListedPromptSet"][];
        };
        /**
         * ListedRun
         * @description A line of the runs list, as one reader may see it.
         */
        readonly ListedRun: {
            readonly id: string;
            readonly name: string;
            readonly state: components["schemas"]["RunState"];
            /** Format: date-time */
            readonly state_changed_at: string;
            readonly phase: components["schemas"]["Phase"] | "";
            readonly attempt: number;
            readonly num_batches: number;
            readonly num_batches_done: number;
            readonly policy_version: number;
            readonly headline: components["schemas"]["Headline"];
            /** Format: date-time */
            readonly created_at: string;
            readonly started_at: string | null;
            readonly ended_at: string | null;
            readonly tags: readonly string[];
            readonly archived_at: string | null;
            readonly project: components["schemas"]["RunProject"];
            /** @description Name of the user; null for an account that was deleted. */
            readonly created_by: string | null;
            readonly legal_actions: readonly components["schemas"]["CommandKind"][];
            /** @description What a queued run waits for, in one sentence; empty for any other. */
            readonly waiting: string;
            /** @description What is amiss with a run that works, in one sentence: GPUs that do nothing. Empty for nothing. */
            readonly warning: string;
            /** @description The sweep that made the run; null for any other, and once the sweep was deleted. */
            readonly sweep: components["schemas"]["RunSweep"] | null;
        };
        /**
         * ListedSweep
         * @description A line of the list of sweeps, as one reader may see it.
         */
        readonly ListedSweep: {
            readonly num_points: number;
            readonly num_runs: number;
            readonly num_runs_ended: number;
            readonly num_runs_live: number;
            readonly id: string;
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
            readonly name: string;
            readonly project: components["schemas"]["RunProject"];
            /** @description Name of the user; null for an account that was deleted. */
            readonly created_by: string | null;
            /** Format: date-time */
            readonly created_at: string;
            readonly ended_at: string | null;
            readonly state: components["schemas"]["SweepState"];
            /** @description Why it starts no more runs; empty while it does, and for one that ended by itself. */
            readonly reason: string;
            readonly num_pruned: number;
            /** @description Null before the first value. */
            readonly best: components["schemas"]["BestPoint"] | null;
            /** @description Of the lanes that its runs held; CPU lanes cost none. */
            readonly gpu_hours: number;
            readonly budget_gpu_hours: number | null;
        };
        readonly Live: {
            readonly ok: boolean;
        };
        /**
         * LiveValues
         * @description The newest live values of some nodes or GPUs.
         */
        readonly LiveValues: {
            readonly ids: readonly number[];
            /** @description By name, such as `utilisation`: the values of all `ids`, in their order. */
            readonly values: {
                readonly [key: string]: readonly (number | null)[];
            };
        };
        /**
         * LogEntry
         * @description A log record, or an event of the run in a sentence.
         */
        readonly LogEntry: {
            /** @description The number of what it tells, in the run's stream. */
            readonly stream_seq: number;
            /** @description Unix time in seconds. */
            readonly at: number;
            readonly attempt: number;
            /** @description `log` for a record of the engine's log; else the type of the event. */
            readonly type: string;
            readonly level: components["schemas"]["LogLevel"];
            /** @description A lane, `driver` or `web`. */
            readonly source: string;
            readonly text: string;
        };
        /**
         * LogError
         * @description Errors with the same message, up to the numbers in it.
         */
        readonly LogError: {
            /** @description The first line of the newest. */
            readonly text: string;
            readonly sources: readonly string[];
            readonly count: number;
            readonly first_at: number;
            readonly last_at: number;
            readonly first_seq: number;
            readonly last_seq: number;
        };
        /**
         * LogEvent
         * @description A line of a lane's or the driver's log.
         */
        readonly LogEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "log";
            /** @enum {string} */
            readonly level: "debug" | "info" | "warning" | "error";
            /** @description The lane's id, or `driver`. */
            readonly source: string;
            readonly message: string;
        };
        /**
         * LogFields
         * @description A line of a lane's or the driver's log.
         */
        readonly LogFields: {
            /** @enum {string} */
            readonly level: "debug" | "info" | "warning" | "error";
            /** @description The lane's id, or `driver`. */
            readonly source: string;
            readonly message: string;
        };
        /**
         * LogItem
         * @description A `log` event in the stream.
         */
        readonly LogItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "log";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["LogFields"];
        };
        /**
         * LogLevel
         * @description Severities, ascending.
         * @enum {string}
         */
        readonly LogLevel: "debug" | "info" | "warning" | "error";
        /**
         * LoraSpec
         * @description Low-rank layers beside the frozen weights (LoRA, arXiv 2106.09685); read where `tuning` is `lora`.
         */
        readonly LoraSpec: {
            /**
             * @description Rank of each LoRA layer. Usual: 32 (Flow-GRPO on SD3.5 and FLUX.1), 64 (Qwen-Image), 128 (DanceGRPO on video).
             *     Trained parameters, optimizer memory and published bytes grow in proportion to it; raise it when the reward levels
             *     off too early.
             * @default 16
             */
            readonly rank: number;
            /**
             * @description Scale of the LoRA: its output is multiplied by `alpha` / `rank`. Usual is twice the rank. Change the two
             *     together, since their quotient acts like a factor on the learning rate.
             * @default 32
             */
            readonly alpha: number;
            /**
             * @description Linear layers that get a LoRA, by module name or by the end of it, such as `attn.to_q`. Empty: the attention
             *     projections usual for the model family. A name that matches no layer of the family's transformer is refused, so
             *     that nothing is left out unnoticed.
             * @default []
             */
            readonly targets: readonly string[];
        };
        readonly Me: {
            readonly id: number;
            readonly username: string;
            /** @description Whether the user may manage nodes, GPUs, pools and shares. */
            readonly is_pool_admin: boolean;
            /** @description Whether the user administers the installation. */
            readonly is_superuser: boolean;
        };
        readonly Member: {
            readonly id: number;
            readonly username: string;
            /** @description A script's account. */
            readonly is_service_account: boolean;
            readonly role: components["schemas"]["ProjectRole"];
            /** @description Whether a group of the identity provider gives the role. It ends with the group. */
            readonly is_mapped: boolean;
            /** Format: date-time */
            readonly created_at: string;
        };
        readonly MemberPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Member"][];
        };
        /**
         * MemoryShortage
         * @description One failed call. Its work went on in smaller calls.
         */
        readonly MemoryShortage: {
            /** @description What the device was to do, as the rest of a sentence: `generate 16 trajectories`. */
            readonly work: string;
            /**
             * @description What the call asked for last; empty where the device's library does not say.
             * @default null
             */
            readonly asked_bytes: number | null;
            /**
             * @description The device's memory; empty for a CPU.
             * @default null
             */
            readonly capacity_bytes: number | null;
            /**
             * @description What the memory plan says such a lane holds, by purpose; empty for a model or device without a profile.
             * @default {}
             */
            readonly planned_bytes: {
                readonly [key: string]: number;
            };
            /** @description What was done, as a clause: `in calls of 8 from now on`. */
            readonly remedy: string;
        };
        /** @enum {string} */
        readonly MessageForm: "standard" | "slack" | "discord" | "email";
        /**
         * Metric
         * @description Names of curves: one value for each batch.
         * @enum {string}
         */
        readonly Metric: "reward/mean" | "reward/std" | "reward/part/{name}" | "reward/missing/{name}" | "reward/retries/{name}" | "reward/hacking_suspected" | "reward/zero_std_share" | "reward/resampled_groups" | "policy/skipped_optimizer_steps" | "policy/kl" | "policy/ratio_mean" | "policy/ratio_max_deviation" | "policy/clip_fraction" | "policy/loss" | "policy/grad_norm" | "policy/learning_rate" | "speed/images_per_second" | "speed/batch_seconds" | "speed/generate_seconds" | "speed/train_seconds" | "speed/padding_seconds" | "staleness/mean" | "staleness/max" | "staleness/policy_version" | "lanes/idle_share" | "eval/reward" | "eval/part/{name}";
        /**
         * MetricsEvent
         * @description Values keyed by `worker.contracts.metric_names`. `batch` counts complete batches, from 1.
         */
        readonly MetricsEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "metrics";
            readonly batch: number;
            readonly optimizer_step: number;
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /**
         * MetricsFields
         * @description Values keyed by `worker.contracts.metric_names`. `batch` counts complete batches, from 1.
         */
        readonly MetricsFields: {
            readonly batch: number;
            readonly optimizer_step: number;
            readonly values: {
                readonly [key: string]: number;
            };
        };
        /**
         * MetricsItem
         * @description A `metrics` event in the stream.
         */
        readonly MetricsItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "metrics";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["MetricsFields"];
        };
        /** @description One quantity of a GPU, a value for each minute; null where the card did not tell it. */
        readonly MinutesColumn: {
            readonly low: readonly (number | null)[];
            readonly mean: readonly (number | null)[];
            readonly high: readonly (number | null)[];
        };
        /** @description A mirror without its credential, which is never shown. */
        readonly Mirror: {
            /** Format: uuid */
            readonly id: string;
            /** Format: uuid */
            readonly project: string;
            readonly name: string;
            /** @description `wandb_offline` writes W&B's files to a folder, for `wandb sync`. */
            readonly kind: components["schemas"]["MirrorKind"];
            /** @description URL of W&B or of MLflow's tracking server; empty for folders, and for W&B's own cloud. */
            readonly address: string;
            /** @description `project` or `entity/project` of W&B, MLflow's experiment, or the folder's name. */
            readonly place: string;
            /** @description Below `TANDEM_VAR`; empty for servers. */
            readonly folder: string;
            /** @description False: for the runs alone whose specs name it. */
            readonly is_for_every_run: boolean;
            readonly is_active: boolean;
            /** Format: date-time */
            readonly created_at: string;
            /** @description Runs that it has, or follows. */
            readonly num_runs: number;
            /** @description Those of them that are tried again, or were given up. */
            readonly num_failing: number;
        };
        /** @enum {string} */
        readonly MirrorKind: "wandb" | "wandb_offline" | "mlflow" | "tensorboard";
        readonly MirrorPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Mirror"][];
        };
        /** @description A run in one mirror. */
        readonly MirroredRun: {
            /** Format: uuid */
            readonly mirror: string;
            readonly name: string;
            readonly kind: components["schemas"]["MirrorKind"];
            readonly is_active: boolean;
            readonly state: components["schemas"]["MirroringState"];
            /** @description The run's page there; empty for folders, and before anything is there. */
            readonly url: string;
            /** @description Below `TANDEM_VAR`; empty for servers. */
            readonly folder: string;
            /** @description Everything up to this batch is there. */
            readonly batch: number;
            readonly num_batches_behind: number;
            /** @description Not stored in time, or not taken there. */
            readonly num_pictures_left_out: number;
            /** @description Failed tries since the last that was accepted. */
            readonly num_failures: number;
            /** @description Of the last try; empty where it was accepted. */
            readonly error: string;
            /**
             * Format: date-time
             * @description When it is written next.
             */
            readonly next_at: string | null;
            /**
             * Format: date-time
             * @description Since when it is being written; null between two.
             */
            readonly begun_at: string | null;
            /** Format: date-time */
            readonly accepted_at: string | null;
        };
        /** @enum {string} */
        readonly MirroringState: "following" | "done" | "given_up";
        /**
         * MixGrpoSpec
         * @description MixGRPO (arXiv 2507.21802): stochastic in a window that moves over the denoising steps from batch to batch, and
         *     that all groups of a batch share.
         */
        readonly MixGrpoSpec: {
            /**
             * @description Standard deviation that advantages are divided by. `group`: of the group's own rewards, so a group can be trained
             *     on as soon as it is complete. `batch`: of all rewards of the batch (Flow-GRPO's choice for SD3 and FLUX), which
             *     weights prompts with a small spread less, but makes training wait for the whole batch.
             * @default group
             * @enum {string}
             */
            readonly advantage_std: "group" | "batch";
            /**
             * @description Bound on advantages, in standard deviations: they are clipped to ± this. 5 is usual and rarely reached with the
             *     group's own standard deviation; lower it where single outliers of the reward dominate the update.
             * @default 5
             */
            readonly advantage_clip: number;
            /**
             * @description Weight of the KL divergence to the base model in the loss. 0 needs no forward pass of the base model. Flow-GRPO
             *     uses 0.04 for GenEval and OCR, 0.01 for PickScore, 0.004 for Wan, and 0 for FLUX and Qwen-Image. Raise it when the
             *     reward rises while pictures get worse.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description Bound on the ratio of new to old likelihood: it is clipped to 1 ± this. So small a number is right because
             *     log-probs are means over all latent dimensions: 1e-4 is usual, 1e-5 for Flow-GRPO-Fast, 1e-3 for Wan. Raise it when
             *     most ratios are clipped and the reward hardly moves; lower it when the reward collapses.
             * @default 0.0001
             */
            readonly clip_range: number;
            /**
             * @description Stochastic denoising steps of each trajectory, which are the ones trained on; all others are deterministic.
             *     4 of 25 is the paper's. Training time grows in proportion.
             * @default 4
             */
            readonly window_size: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "mix_grpo";
            /**
             * @description How the window moves. `progressive`: from the noisiest steps to the last, then again from the start, which the
             *     paper found best. `random`: to a position drawn anew each time.
             * @default progressive
             * @enum {string}
             */
            readonly strategy: "progressive" | "random";
            /**
             * @description Batches between two moves of the window. 25 is the authors' for the progressive window; their random window moves
             *     with every batch, which is 1. Lower it in short runs, so that the window reaches all steps.
             * @default 25
             */
            readonly shift_every_num_batches: number;
            /**
             * @description Denoising steps by which the progressive window moves. 1 is the authors'; less than `window_size` makes
             *     successive windows overlap.
             * @default 1
             */
            readonly stride: number;
        };
        /**
         * ModelFamily
         * @description Architectures of base models.
         * @enum {string}
         */
        readonly ModelFamily: "flux" | "sd3" | "flux2" | "flux2_klein" | "qwen_image" | "z_image" | "wan" | "wan22" | "hunyuan_video";
        readonly MovedInQueue: {
            /** @description Such as `moved to the front`. */
            readonly words: string;
            readonly by: string;
            readonly reason: string;
            /** Format: date-time */
            readonly at: string;
        };
        readonly NewMember: {
            readonly username: string;
            /** @default viewer */
            readonly role?: components["schemas"]["ProjectRole"];
        };
        readonly NewMirror: {
            /** Format: uuid */
            readonly project: string;
            /** @description By which specs name it: a-z, 0-9, _ and -. */
            readonly name: string;
            /** @description `wandb_offline` writes W&B's files to a folder, for `wandb sync`. */
            readonly kind: components["schemas"]["MirrorKind"];
            /**
             * @description URL of W&B or of MLflow's tracking server; empty for folders, and for W&B's own cloud.
             * @default
             */
            readonly address?: string;
            /** @description `project` or `entity/project` of W&B, MLflow's experiment, or the folder's name. */
            readonly place: string;
            /**
             * @description API key of W&B; token or `user:password` of MLflow. Stored encrypted and never shown.
             * @default
             */
            readonly credential?: string;
            /**
             * @description False: for the runs alone whose specs name it.
             * @default true
             */
            readonly is_for_every_run?: boolean;
        };
        /** @description What is left out stays as it is. */
        readonly NewPool: {
            readonly description?: string;
            /** @description Labels that a lane must have, all of them. */
            readonly match_labels: {
                readonly [key: string]: string;
            };
            /** @description Of pools that match a lane, the lowest has it. */
            readonly order?: number;
            /** @description Small letters, digits and `-`; it cannot be changed. */
            readonly name: string;
        };
        readonly NewPreview: {
            readonly prompts: readonly string[];
            /** @default 4 */
            readonly num_samples?: number;
            /** @default 0 */
            readonly seed?: number;
            /** @description Id of the version. Default: the newest. */
            readonly adapter?: number | null;
        };
        readonly NewPromptSet: {
            /** Format: uuid */
            readonly project: string;
            readonly name: string;
            /** @description Texts, or objects with `text` or `prompt` and what else a prompt has; other keys become metadata. */
            readonly prompts: readonly unknown[];
        };
        readonly NewRun: {
            /**
             * Format: uuid
             * @description Run that this one repeats with changes, or is forked from.
             */
            readonly parent?: string | null;
            /** @description Id of a checkpoint of `parent` to begin from (a fork). Default: the base model. */
            readonly checkpoint?: number | null;
            /** Format: uuid */
            readonly project: string;
            readonly name: string;
            /** @description A run spec as an object, or as YAML text. */
            readonly spec: unknown;
            readonly notes?: string;
            readonly tags?: readonly string[];
            /** @description Name of the preset that the spec began as. Default: that of `parent`, or none. */
            readonly preset?: string;
        };
        readonly NewSecret: {
            /** Format: uuid */
            readonly project: string;
            /** @description Name by which specs refer to it. */
            readonly name: string;
            /** @description The only host, or host:port, that it may be sent to. */
            readonly host: string;
            readonly value: string;
        };
        readonly NewServiceAccount: {
            /**
             * Format: uuid
             * @description Null for one of the pool; of administrators.
             */
            readonly project?: string | null;
            /** @description a-z, 0-9 and -. */
            readonly name: string;
            /** @description In the project, where `viewer` is the default. */
            readonly role?: components["schemas"]["ProjectRole"] | components["schemas"]["NullEnum"];
        };
        /** @description As one's own token, without projects: the account has one, or none. */
        readonly NewServiceToken: {
            /** @default  */
            readonly name?: string;
            /** @description Default: the server's token lifetime. */
            readonly expires_in_days?: number;
            /**
             * @description `read` is part of each: `run` creates and controls runs, `pool` does what pool admins do, `admin` manages tokens, members, secrets and accounts. None gives a right that you have not.
             * @default [
             *       "read",
             *       "run",
             *       "pool",
             *       "admin"
             *     ]
             */
            readonly scopes?: readonly components["schemas"]["TokenScope"][];
            /** @description Names of pools that it may act on. Default: every pool. */
            readonly pools?: readonly string[] | null;
        };
        readonly NewSweep: {
            /**
             * Format: uuid
             * @description Project in which the runs are created.
             */
            readonly project: string;
            /** @description A plan of a sweep (`SweepPlan`) as an object, or as YAML text. */
            readonly sweep: unknown;
            /**
             * Format: uuid
             * @description Run that the sweep is made from.
             */
            readonly parent?: string | null;
        };
        readonly NewToken: {
            /** @default  */
            readonly name?: string;
            /** @description Default: the server's token lifetime. */
            readonly expires_in_days?: number;
            /**
             * @description `read` is part of each: `run` creates and controls runs, `pool` does what pool admins do, `admin` manages tokens, members, secrets and accounts. None gives a right that you have not.
             * @default [
             *       "read",
             *       "run",
             *       "pool",
             *       "admin"
             *     ]
             */
            readonly scopes?: readonly components["schemas"]["TokenScope"][];
            /** @description Ids of projects to limit it to. Default: all of yours, later ones too. */
            readonly projects?: readonly string[] | null;
            /** @description Names of pools that it may act on. Default: every pool. */
            readonly pools?: readonly string[] | null;
        };
        readonly NewWebhook: {
            /**
             * Format: uuid
             * @description Null for the pool's; of pool admins.
             */
            readonly project?: string | null;
            readonly name: string;
            /**
             * @description `standard` is signed JSON, as standardwebhooks.com describes.
             * @default standard
             */
            readonly form?: components["schemas"]["MessageForm"];
            /** @description A URL, or an e-mail address for `email`. */
            readonly address: string;
            /** @description What it tells of. */
            readonly events: readonly components["schemas"]["HookEvent"][];
        };
        readonly NodeAction: {
            readonly action: components["schemas"]["PoolActionKind"];
            /**
             * @description Required except for resume.
             * @default
             */
            readonly reason?: string;
            /**
             * Format: date-time
             * @description When maintenance ends by itself, or by when what is drained has to be empty.
             */
            readonly until?: string | null;
        };
        readonly NullEnum: null;
        /** Objective */
        readonly Objective: {
            /**
             * @description The curve by which points are compared: by default the held-out reward.
             * @default eval/reward
             */
            readonly metric: string;
            /** @default true */
            readonly maximise: boolean;
        };
        /** @description Who had the pool's lanes over a window. The areas of a bucket add up to the lanes that there were. */
        readonly Occupancy: {
            readonly kind: components["schemas"]["LaneKind"];
            /** Format: date-time */
            readonly since: string;
            /**
             * Format: date-time
             * @description That asked for, but not after now.
             */
            readonly until: string;
            /** Format: double */
            readonly bucket_seconds: number;
            /** @description Begin of each bucket, in Unix seconds. */
            readonly at: readonly number[];
            readonly areas: readonly components["schemas"]["OccupancyArea"][];
        };
        /** @description The lanes of one project, or those that were idle, tested or out of service. */
        readonly OccupancyArea: {
            /** @description A project's id, `idle`, `test` or a state; empty for several projects. */
            readonly key: string;
            readonly name: string;
            readonly category: components["schemas"]["CategoryEnum"];
            /** @description Mean number of lanes in each bucket. */
            readonly lanes: readonly number[];
            /**
             * Format: double
             * @description In the whole window.
             */
            readonly lane_hours: number;
        };
        /**
         * OcrSettings
         * @description Text recognition, as PaddleOCR's models do it.
         */
        readonly OcrSettings: {
            /**
             * @description Length in pixels to which a picture's shorter side is enlarged before text is looked for; larger pictures stay as
             *     they are. 736 is PaddleOCR's default. Raise it when small letters are missed; scoring time grows with the area.
             * @default 736
             */
            readonly shortest_side: number;
        };
        /** @enum {string} */
        readonly OfEnum: "node" | "gpu" | "lane";
        /**
         * OldLogProbs
         * @description Who computes the log-probs that ratios divide by.
         * @enum {string}
         */
        readonly OldLogProbs: "rollout" | "trainer";
        /**
         * OperationBody
         * @description Long work that a request began.
         */
        readonly Operation: {
            /** @description `<kind>-<id of the row that holds it>`. */
            readonly id: string;
            readonly kind: components["schemas"]["OperationKind"];
            /** @description What was asked for: the kind, or of a `command` which one. */
            readonly action: string;
            readonly state: components["schemas"]["OperationState"];
            /** @description What it waits for, or what was said of it; empty for nothing. */
            readonly detail: string;
            /** @description Why it failed; empty where it has not. */
            readonly problem: string;
            /** @description Null where nothing is counted. */
            readonly progress: components["schemas"]["OperationProgress"] | null;
            readonly target: components["schemas"]["OperationTarget"];
            /** @description Id of the project; null for work on the pool. */
            readonly project: string | null;
            /** @description Name of the user, or of the part of Tandem; null for an account that was deleted. */
            readonly requested_by: string | null;
            /** @description `X-Request-ID` of the request that began it, as the audit log has it; empty where it has none. */
            readonly request_id: string;
            /** Format: date-time */
            readonly created_at: string;
            /** @description Null while nothing works on it, and where that is not noted. */
            readonly started_at: string | null;
            readonly ended_at: string | null;
            /** @description Address of what comes of it, below this server. */
            readonly result: string;
            /** @description Whether you may cancel it now. */
            readonly can_cancel: boolean;
        };
        /**
         * OperationKind
         * @enum {string}
         */
        readonly OperationKind: "preview" | "command" | "resize" | "sweep" | "gpu_test" | "drain" | "retention";
        /**
         * OperationProgress
         * @description How much of an operation is done.
         */
        readonly OperationProgress: {
            readonly done: number;
            readonly total: number;
            /** @description What is counted, such as `pictures`. */
            readonly unit: string;
        };
        /**
         * OperationState
         * @enum {string}
         */
        readonly OperationState: "waiting" | "running" | "succeeded" | "failed" | "cancelled";
        /**
         * OperationTarget
         * @description What an operation is about.
         */
        readonly OperationTarget: {
            /** @enum {string} */
            readonly type: "run" | "sweep" | "gpu" | "node" | "retention";
            readonly id: string;
            readonly name: string;
            /** @description Its address below this server. */
            readonly link: string;
        };
        /**
         * OptimizerSpec
         * @description AdamW with a constant learning rate; its state is fp32.
         */
        readonly OptimizerSpec: {
            /**
             * @description Learning rate of AdamW, constant over the run. Usual: 1e-4 to 3e-4 for LoRA (Flow-GRPO), 1e-5 for all weights
             *     (DanceGRPO, MixGRPO). Lower it when the reward falls again after a rise, or when most ratios are clipped.
             * @default 0.0003
             */
            readonly learning_rate: number;
            /**
             * @description Decay of AdamW's first moment (the mean of the gradient). 0.9 is PyTorch's default and that of the published
             *     recipes; there is rarely a reason to change it.
             * @default 0.9
             */
            readonly beta1: number;
            /**
             * @description Decay of AdamW's second moment (the mean of the squared gradient). 0.999 is PyTorch's default and that of the
             *     published recipes; 0.95 adapts faster where the gradient's scale changes much.
             * @default 0.999
             */
            readonly beta2: number;
            /**
             * @description Decoupled weight decay of AdamW: each optimizer step shrinks the trained weights by `learning_rate` × this. 1e-4
             *     is Flow-GRPO's. It hardly matters in runs of a few hundred steps; 0 turns it off.
             * @default 0.0001
             */
            readonly weight_decay: number;
            /**
             * @description Largest L2 norm of the gradient in one optimizer step; a larger gradient is scaled down to it. 1 is usual. Lower
             *     it when spikes of the gradient norm are followed by a fall of the reward; 1e9 never clips.
             * @default 1
             */
            readonly max_grad_norm: number;
        };
        /** @enum {string} */
        readonly OrderEnum: "created" | "name" | "state" | "progress" | "reward" | "started" | "duration";
        /**
         * OutOfMemoryEvent
         * @description A lane's device had not enough memory for a call. The work goes on in smaller calls.
         */
        readonly OutOfMemoryEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "out_of_memory";
            readonly lane: string;
            readonly shortage: components["schemas"]["MemoryShortage"];
            /** @description What happened and what the plan had said, without the lane's name, which comes first. */
            readonly sentence: string;
        };
        /**
         * OutOfMemoryFields
         * @description A lane's device had not enough memory for a call. The work goes on in smaller calls.
         */
        readonly OutOfMemoryFields: {
            readonly lane: string;
            readonly shortage: components["schemas"]["MemoryShortage"];
            /** @description What happened and what the plan had said, without the lane's name, which comes first. */
            readonly sentence: string;
        };
        /**
         * OutOfMemoryItem
         * @description A `out_of_memory` event in the stream.
         */
        readonly OutOfMemoryItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "out_of_memory";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["OutOfMemoryFields"];
        };
        readonly PatchedAccountRights: {
            /** @description Whether the user may manage nodes, GPUs, pools and shares. */
            readonly is_pool_admin?: boolean;
        };
        /** @description What is left out stays as it is. */
        readonly PatchedAnnotationsToWrite: {
            /** @description All labels; those not named go. */
            readonly labels?: {
                readonly [key: string]: string;
            };
            readonly notes?: string;
            /**
             * Format: decimal
             * @description Null takes the price away.
             */
            readonly price_per_gpu_hour?: string | null;
        };
        readonly PatchedMemberRole: {
            readonly role?: components["schemas"]["ProjectRole"];
        };
        readonly PatchedMirrorChanges: {
            /** @description API key of W&B; token or `user:password` of MLflow. Stored encrypted and never shown. */
            readonly credential?: string;
            /** @description False: for the runs alone whose specs name it. */
            readonly is_for_every_run?: boolean;
            /** @description Off, it gets nothing more; on again, all it lacks. */
            readonly is_active?: boolean;
        };
        /** @description What is left out stays as it is. */
        readonly PatchedNodeToWrite: {
            /** @description All labels; those not named go. */
            readonly labels?: {
                readonly [key: string]: string;
            };
            readonly notes?: string;
            /**
             * Format: decimal
             * @description Null takes the price away.
             */
            readonly price_per_gpu_hour?: string | null;
            /** @description How many of its GPUs make a lane, linked ones together. Held lanes change once they are free. */
            readonly gpus_per_lane?: number;
        };
        /** @description What is left out stays as it is. */
        readonly PatchedPoolToChange: {
            readonly description?: string;
            /** @description Labels that a lane must have, all of them. */
            readonly match_labels?: {
                readonly [key: string]: string;
            };
            /** @description Of pools that match a lane, the lowest has it. */
            readonly order?: number;
        };
        readonly PatchedProjectName: {
            readonly name?: string;
        };
        readonly PatchedRunChanges: {
            readonly name?: string;
            readonly notes?: string;
            readonly tags?: readonly string[];
            readonly archived?: boolean;
            /** @description Only while the run waits. */
            readonly priority?: components["schemas"]["PriorityEnum"];
        };
        readonly PatchedServiceAccountChanges: {
            readonly role?: components["schemas"]["ProjectRole"];
            /** @description Off, its tokens are revoked and its sockets closed at once. */
            readonly is_active?: boolean;
        };
        readonly PatchedWebhookChanges: {
            readonly name?: string;
            /** @description A URL, or an e-mail address for `email`. */
            readonly address?: string;
            readonly events?: readonly components["schemas"]["HookEvent"][];
            /** @description Off, its waiting messages are given up. */
            readonly is_active?: boolean;
        };
        /**
         * PerformanceSpec
         * @description Kernels of the transformer, on every lane that generates, replays or trains. Results change by rounding only,
         *     which the replay gate bounds.
         */
        readonly PerformanceSpec: {
            /**
             * @description Backend of `torch.compile` for the transformer's repeated blocks. `inductor` speeds up most models on GPUs, after
             *     some minutes of compilation at the start and for each new shape; `auto` is usual, `off` for short runs and for
             *     finding errors. Not available with ZeRO 3.
             * @default auto
             */
            readonly compilation: components["schemas"]["Compilation"];
            /**
             * @description Attention kernel of the transformer. `auto` is usual: on Hopper GPUs `_native_cudnn` was measured 1.7 to 2.3
             *     times as fast as FlashAttention-2. CPU lanes use the default in place of kernels for accelerators.
             * @default auto
             */
            readonly attention: components["schemas"]["AttentionBackend"];
            /**
             * @description How a lane of several GPUs computes one prediction; of no effect on lanes of one. `auto` is usual, `off` for
             *     comparing: lanes then generate on their first GPU, and none of several trains. Their number must divide the
             *     attention heads and the tokens of a sample, and to train those of a prompt: a run gets no other lanes, and is
             *     refused where too few are left.
             * @default auto
             */
            readonly context_parallel: components["schemas"]["ContextParallel"];
        };
        /** @enum {string} */
        readonly PeriodEnum: "month" | "whole";
        /**
         * Phase
         * @description What the driver is doing: the run page shows it, and names the phase in which a run failed.
         * @enum {string}
         */
        readonly Phase: "bootstrap" | "place_lanes" | "load_model" | "restore" | "evaluate" | "train" | "checkpoint" | "export" | "finish";
        /**
         * PhaseEvent
         * @description The driver has entered a phase.
         */
        readonly PhaseEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "phase";
            readonly phase: components["schemas"]["Phase"];
            /** @default  */
            readonly detail: string;
        };
        /**
         * PhaseFields
         * @description The driver has entered a phase.
         */
        readonly PhaseFields: {
            readonly phase: components["schemas"]["Phase"];
            /** @default  */
            readonly detail: string;
        };
        /**
         * PhaseItem
         * @description A `phase` event in the stream.
         */
        readonly PhaseItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "phase";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["PhaseFields"];
        };
        /**
         * PickScoreSettings
         * @description PickScore (arXiv 2305.01569): CLIP-H trained on choices between two pictures. Scores lie near 20.
         */
        readonly PickScoreSettings: {
            /**
             * @description Weights of PickScore: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`. Safetensors only.
             *     Change it only to use a mirror.
             * @default yuvalkirstain/PickScore_v1
             */
            readonly weights: string;
            /**
             * @description Pictures, or frames of clips, in one forward pass of the scorer. 16 fits beside other work on a GPU of 24 GB;
             *     lower it when the reward lane runs out of memory, raise it when scoring is slow on a GPU.
             * @default 16
             */
            readonly pictures_per_call: number;
            /**
             * @description Precision of the scorer's network. Empty: bf16 on a GPU, several times as fast, and fp32 on a CPU. Similarity,
             *     rating head and score are computed in fp32 either way. Take fp32 to compare scores with published ones to the last
             *     digit.
             * @default null
             */
            readonly dtype: ("fp32" | "bf16") | null;
            /**
             * @description Tokenizer and picture processor: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
             *     PickScore's model card names the default, the CLIP-H that it was trained from; change it only to use a mirror.
             * @default laion/CLIP-ViT-H-14-laion2B-s32B-b79K
             */
            readonly processor: string;
        };
        /**
         * PipelineSpec
         * @description How generation, scoring and training overlap on the lanes. At staleness 0 no switch here changes the result, only
         *     the time that it takes; `max_staleness: 1`, `stale_clip` and `importance_cap` change what is trained on.
         */
        readonly PipelineSpec: {
            /**
             * @description Which lanes do what. `colocated`: every lane generates, then trains; needs no balance and is the baseline.
             *     `disaggregated`: rollout lanes and trainer lanes work at the same time, faster where both are kept busy. `auto`: the
             *     planner takes whichever is predicted to be fastest on these lanes, with its own split, fragment size and switches,
             *     and again while the run works, by what it has measured.
             * @default disaggregated
             */
            readonly placement: components["schemas"]["Placement"];
            /**
             * @description Train on groups as soon as they are complete and scored, while other groups of the batch are still generated
             *     (generation-axis pipeline). On is usual: off makes the trainer lanes wait for the whole batch. Colocated lanes
             *     generate first: each trains from when no fragment is left for it, or sooner if it is better at training than
             *     others, while these end theirs and rewards come in. It has no effect with `advantage_std: batch`, nor colocated in
             *     ZeRO 2 and 3.
             * @default true
             */
            readonly gap: boolean;
            /**
             * @description Share out (trajectory, denoising step) pairs over the trainer lanes one by one (time-step parallelism); off, all
             *     pairs of a trajectory go to one lane. On is usual: lanes wait less for each other, the more so with few trajectories
             *     for each lane.
             * @default true
             */
            readonly tsp: boolean;
            /**
             * @description Whether idle trainer lanes are lent to generation (trainer-assisted generation). `greedy` lends whenever
             *     fragments wait that rollout lanes would not all end before; `search` only where the batch is predicted to end
             *     sooner, switching costs included. Use `search` where trainer lanes show long bubbles; lending coarse fragments
             *     greedily can be slower than `off` (UniRL measured 0.68× where lanes were lent whenever they idled).
             * @default off
             */
            readonly tag: components["schemas"]["TrainerAssist"];
            /**
             * @description Policy versions by which samples may be older than the trained weights. 0 is strictly on-policy. 1 lets rollout
             *     lanes begin the next batch with the version before, so that they do not wait for training; a trajectory never mixes
             *     versions. The published gain is 1.36× to 1.44× (UniRL, Wan2.1), with slightly more clipping.
             * @default 0
             * @enum {integer}
             */
            readonly max_staleness: 0 | 1;
            /**
             * @description Which policy the ratio of stale samples is clipped around. `proximal`: the newest weights before training on the
             *     batch, with each sample weighted by how much likelier they make it than the older weights that generated it
             *     (decoupled PPO, arXiv 2110.00641). `behaviour`: those older weights; a small clip range then silences a third or
             *     more of the stale samples before training on them begins.
             * @default proximal
             */
            readonly stale_clip: components["schemas"]["StaleClip"];
            /**
             * @description Upper bound on the weight of stale samples that `stale_clip: proximal` gives them (truncated importance
             *     sampling). Empty: 2. Likelihoods are means over all latent dimensions, so weights are close to 1 and the bound is
             *     rarely reached; lower it towards 1 when single samples dominate the update.
             * @default null
             */
            readonly importance_cap: number | null;
            /**
             * @description How rollout lanes get each new policy version. `store` is usual: a LoRA passes Ray's object store in a fraction
             *     of a second. `direct` broadcasts from the trainer lanes to the memory of the rollout lanes, over NCCL between GPUs,
             *     while those still generate; it is for all weights of a large model, and needs room for a second copy of them on
             *     each rollout lane. Lanes that a broadcast does not reach, and lent trainer lanes, fetch the copy in the store.
             * @default store
             */
            readonly publishing: components["schemas"]["Publishing"];
            /**
             * @description Accumulate gradients in the order of prompts, never of arrival, so that one trainer rank reaches bitwise the same
             *     weights in every run with these settings. Trainer lanes wait for the next in order, so it costs time. Turn it on to
             *     reproduce a result or to compare two changes exactly.
             * @default false
             */
            readonly deterministic: boolean;
        };
        /**
         * Placement
         * @description How generation and training are placed on the lanes.
         * @enum {string}
         */
        readonly Placement: "colocated" | "disaggregated" | "auto";
        /** @enum {string} */
        readonly PlacementEnum: "colocated" | "disaggregated";
        /**
         * PlanBody
         * @description What the planner chooses for a spec, and the alternatives.
         */
        readonly Plan: {
            /**
             * @description The mode chosen, a key of `by_mode`.
             * @enum {string}
             */
            readonly mode: "colocated" | "disaggregated" | "gap" | "tsp" | "tag" | "stale";
            /** @description Positions, among the lanes that generate or train, of those that train. */
            readonly trainers: readonly number[];
            readonly by_mode: {
                readonly [key: string]: components["schemas"]["PlanChoice"];
            };
            /** @description Throughput by split, for each mode. */
            readonly curves: {
                readonly [key: string]: readonly components["schemas"]["SplitPoint"][];
            };
            /**
             * @description The throughput that no schedule with at most the staleness asked for exceeds on these lanes. It counts work,
             *     critical path, whole fragments and micro-batches, and memory.
             */
            readonly bound_samples_per_second: number;
            readonly devices: readonly string[];
            readonly scoring: components["schemas"]["PlannedScoring"];
            /**
             * @description Source of the costs: measured on earlier runs, by the run itself, the documented profile of model and hardware,
             *     or that profile corrected by what earlier runs have measured on other kinds of GPU.
             * @enum {string}
             */
            readonly costs: "measured" | "own" | "profile" | "corrected";
            /** @description Name of the profile used for a model of unknown size; null for a known one. */
            readonly stand_in_profile: string | null;
            readonly num_batches_measured: number;
            /** @description Fragment sizes at which costs were measured; the costs of other sizes are inferred. */
            readonly fragment_sizes_measured: readonly number[];
            /** @description The costs that the choice assumes; `lane` is a device, `gang` for all trainer lanes together, or `reward`. */
            readonly expected: readonly components["schemas"]["WorkCost"][];
        };
        /**
         * PlanChoice
         * @description The best choice of one mode, with the planner's predictions for it.
         */
        readonly PlanChoice: {
            /** @description The `pipeline` section of the spec that an attempt would use. */
            readonly pipeline: components["schemas"]["PipelineSpec"];
            readonly num_rollout: number;
            readonly num_trainer: number;
            readonly fragment_size: number;
            readonly samples_per_second: number;
            readonly batch_seconds: number;
            /** @description Whether the throughput was simulated; otherwise, in pools or batches too large for that, it is an estimate. */
            readonly is_simulated: boolean;
            /** @description Share of the throughput that no schedule with at most the staleness asked for exceeds on these lanes. */
            readonly bound_share: number;
            /** @description Mean staleness of the simulated samples; null where nothing was simulated. */
            readonly mean_staleness: number | null;
            /** @description Memory of the lane with the highest peak, by what the lane does. */
            readonly memory_bytes: {
                readonly [key: string]: number;
            };
        };
        /**
         * PlanEvent
         * @description A run on `placement: auto` works by a new plan, made from the costs that it has measured.
         */
        readonly PlanEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "plan";
            /** @description Complete batches when the plan took effect. */
            readonly batch: number;
            /** @description What changes, why, and what it is predicted to gain, in a sentence or two. */
            readonly reason: string;
            /** @description The switches from now on. */
            readonly pipeline: components["schemas"]["PipelineSpec"];
            /** @description Trajectories of a fragment in batches that begin from now on. */
            readonly fragment_size: number;
            /** @description The run's lanes and their roles from now on. */
            readonly lanes: {
                readonly [key: string]: components["schemas"]["LaneRole"];
            };
            /** @description Seconds of a batch that were predicted had nothing changed. */
            readonly seconds_before: number;
            /** @description Seconds of a batch that are predicted from now on. */
            readonly batch_seconds: number;
            /** @description Seconds of a batch that no schedule beats, by the measured costs. */
            readonly bound_seconds: number;
            /** @description Seconds for which training was expected to stand still for the change; 0 where the trainer lanes stay. */
            readonly predicted_move_seconds: number;
            /** @description Seconds for which it did. */
            readonly move_seconds: number;
        };
        /**
         * PlanFields
         * @description A run on `placement: auto` works by a new plan, made from the costs that it has measured.
         */
        readonly PlanFields: {
            /** @description Complete batches when the plan took effect. */
            readonly batch: number;
            /** @description What changes, why, and what it is predicted to gain, in a sentence or two. */
            readonly reason: string;
            /** @description The switches from now on. */
            readonly pipeline: components["schemas"]["PipelineSpec"];
            /** @description Trajectories of a fragment in batches that begin from now on. */
            readonly fragment_size: number;
            /** @description The run's lanes and their roles from now on. */
            readonly lanes: {
                readonly [key: string]: components["schemas"]["LaneRole"];
            };
            /** @description Seconds of a batch that were predicted had nothing changed. */
            readonly seconds_before: number;
            /** @description Seconds of a batch that are predicted from now on. */
            readonly batch_seconds: number;
            /** @description Seconds of a batch that no schedule beats, by the measured costs. */
            readonly bound_seconds: number;
            /** @description Seconds for which training was expected to stand still for the change; 0 where the trainer lanes stay. */
            readonly predicted_move_seconds: number;
            /** @description Seconds for which it did. */
            readonly move_seconds: number;
        };
        /**
         * PlanItem
         * @description A `plan` event in the stream.
         */
        readonly PlanItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "plan";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["PlanFields"];
        };
        /**
         * PlanPreview
         * @description A plan made before there is a run.
         */
        readonly PlanPreview: {
            /** @enum {string} */
            readonly mode: "colocated" | "disaggregated" | "gap" | "tsp" | "tag" | "stale";
            readonly trainers: readonly number[];
            readonly by_mode: {
                readonly [key: string]: components["schemas"]["PlanChoice"];
            };
            readonly curves: {
                readonly [key: string]: readonly components["schemas"]["SplitPoint"][];
            };
            readonly bound_samples_per_second: number;
            readonly devices: readonly string[];
            readonly scoring: components["schemas"]["PlannedScoring"];
            /** @enum {string} */
            readonly costs: "measured" | "own" | "profile" | "corrected";
            readonly stand_in_profile: string | null;
            readonly num_batches_measured: number;
            readonly fragment_sizes_measured: readonly number[];
            readonly expected: readonly components["schemas"]["WorkCost"][];
            /** @description Whether the pool has as many lanes, free or not. */
            readonly fits_pool: boolean;
            /** @description Memory of each device that the planner knows, against which it judges `memory_bytes`. */
            readonly card_bytes: {
                readonly [key: string]: number;
            };
            /**
             * @description What the run's lanes cost in an hour, each at the mean price of its device's lanes in the pool; null where none
             *     has a price.
             */
            readonly price_per_hour: number | null;
            /** @description Number of the run's lanes on GPUs without a price, which `price_per_hour` leaves out. */
            readonly num_unpriced_lanes: number;
        };
        /**
         * PlanPromise
         * @description What a change of plan was predicted to gain and to take.
         */
        readonly PlanPromise: {
            /** @description Seconds of a batch that were predicted had nothing changed. */
            readonly seconds_before: number;
            /** @description Seconds for which training was expected to stand still for the change. */
            readonly predicted_move_seconds: number;
            /** @description Seconds for which it did. */
            readonly move_seconds: number;
        };
        /**
         * PlannedBatchBody
         * @description From the report of one version to that of the next.
         */
        readonly PlannedBatch: {
            readonly seconds: number;
            readonly spans: readonly components["schemas"]["PlannedSpan"][];
        };
        /**
         * PlannedScoring
         * @description Where rewards are computed.
         */
        readonly PlannedScoring: {
            /** @description As in `lanes.rewards_on`, decided. */
            readonly rewards_on: components["schemas"]["RewardDevice"];
            /** @description Why the planner chose it, a sentence; empty where the user did. */
            readonly reason: string;
            /** @description Memory that a reward lane takes of the card that it shares; `memory_bytes` counts it. 0 where it shares none. */
            readonly card_bytes: number;
        };
        /** PlannedSpan */
        readonly PlannedSpan: {
            readonly lane: string;
            readonly kind: components["schemas"]["SpanKind"];
            readonly cause: components["schemas"]["IdleCause"] | null;
            /** @description In seconds from the batch's beginning. */
            readonly start: number;
            readonly end: number;
        };
        /**
         * PlannedTime
         * @description The batches that one plan of a run promised.
         */
        readonly PlannedTime: {
            readonly revision: number;
            /** @description When the run began to work by it, in Unix seconds. */
            readonly since: number;
            /** @description Complete batches then. */
            readonly since_batch: number;
            /** @description The first batches, which differ from all later ones. */
            readonly lead: readonly components["schemas"]["PlannedBatch"][];
            /** @description Those that follow, over and over; empty where the plan is not drawn. */
            readonly cycle: readonly components["schemas"]["PlannedBatch"][];
            /** @description Why the plan is not drawn, in a sentence. */
            readonly not_drawn: string | null;
        };
        /**
         * PointState
         * @enum {string}
         */
        readonly PointState: "waiting" | "running" | "pruned" | "completed" | "failed";
        readonly PolicyToSet: {
            /**
             * Format: double
             * @description After which use counts half in fair share.
             */
            readonly half_life_hours?: number;
            /**
             * Format: double
             * @description In which a lane that is asked back may finish its fragment; then the fragment is drawn again elsewhere.
             */
            readonly reclaim_seconds?: number;
            /** @description For how long a GPU that a run holds may do nothing before it is warned of. */
            readonly idle_warning_minutes?: number;
            /** @description After how long without any work it is taken from the run, which shrinks where it may or else is paused; null for never. */
            readonly idle_release_minutes?: number | null;
        };
        /** @description Lanes with a queue, shares and a policy of their own. */
        readonly Pool: {
            readonly name: string;
            readonly description: string;
            /** @description Labels that a lane must have; empty for `default`, with the rest. */
            readonly match_labels: {
                readonly [key: string]: string;
            };
            /** @description Of several pools that match a lane, the one with the lowest has it. */
            readonly order: number;
            /**
             * Format: double
             * @description After which use counts half in fair share.
             */
            readonly half_life_hours: number;
            readonly num_lanes: number;
            readonly lanes: readonly components["schemas"]["LaneCount"][];
            /** @description Runs that hold its lanes and that you may see. */
            readonly runs: readonly components["schemas"]["HoldingRun"][];
            readonly num_waiting: number;
            /** @description Projects of yours that may hold no lane of it. */
            readonly kept_out: readonly string[];
        };
        /** @enum {string} */
        readonly PoolActionKind: "cordon" | "drain" | "maintenance" | "resume";
        /** @description One action on several nodes, GPUs and lanes. */
        readonly PoolActions: {
            readonly action: components["schemas"]["PoolActionKind"];
            /**
             * @description Required except for resume.
             * @default
             */
            readonly reason?: string;
            /**
             * Format: date-time
             * @description When maintenance ends by itself, or by when what is drained has to be empty.
             */
            readonly until?: string | null;
            readonly nodes?: readonly number[];
            readonly gpus?: readonly number[];
            /** @description Lanes are cordoned and resumed; only nodes and GPUs are drained. */
            readonly lanes?: readonly number[];
        };
        /** @description A change of what takes work, or something lost or found. */
        readonly PoolChange: {
            readonly id: number;
            /** @description What it is a change of. */
            readonly of: components["schemas"]["OfEnum"];
            /** @description The GPU that it is a change of, if it is of one. */
            readonly gpu_id: number | null;
            /** @description Name of the node, the GPU or the lane. */
            readonly name: string;
            readonly old: string;
            /** @description A state, `lost`, or `found` where it has come back. */
            readonly new: string;
            readonly reason: string;
            /** @description The user or the part of Tandem that decided so. */
            readonly by: string;
            /** Format: date-time */
            readonly at: string;
        };
        /** @description One page: A change of what takes work, or something lost or found. */
        readonly PoolChangePage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["PoolChange"][];
        };
        /**
         * PoolChangedFrame
         * @description What has changed in the pool. It names no run: nodes are read over REST, which knows what the user may see.
         */
        readonly PoolChangedFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "pool";
            /** @description The server's clock, in Unix seconds. */
            readonly now: number;
            /** @description When the node agent last reported; null if it never has, and in a frame that says nothing about it. */
            readonly reported_at: number | null;
            /** @description Ids of nodes that are to be read again; null where all of them are, as in the first frame. */
            readonly changed: readonly number[] | null;
            /** @description Ids of nodes that Ray counted as alive at `reported_at`. */
            readonly alive: readonly number[];
            /** @description `load` and `memory_used_bytes` at `reported_at`. */
            readonly nodes: components["schemas"]["LiveValues"];
            /** @description The fields of `GpuLive` at `reported_at`. */
            readonly gpus: components["schemas"]["LiveValues"];
            /** @description Whether the queue is to be read again: who waits, in which order, or what projects may have. */
            readonly queue: boolean;
        };
        /** @description What concerns the pool as a whole. */
        readonly PoolFacts: {
            /** @description `host:port` of the cluster's head; empty until it is known. */
            readonly head_address: string;
            /** @description Run on a machine, it makes that machine a node of the pool. */
            readonly join_command: string;
            /**
             * Format: date-time
             * @description When the node agent was started.
             */
            readonly agent_started_at: string | null;
            /**
             * Format: date-time
             * @description When it last reported.
             */
            readonly agent_reported_at: string | null;
            /**
             * Format: date-time
             * @description The server's clock.
             */
            readonly now: string;
        };
        readonly PoolFrame: components["schemas"]["PoolChangedFrame"] | components["schemas"]["HeartbeatFrame"];
        /** @description A GPU as its node's agent reported it last. */
        readonly PoolGpu: {
            readonly state: components["schemas"]["PoolState"];
            /** @description What is decided about: a lane, its GPU or its node. */
            readonly place: string;
            /** @description Why it takes no work, or will take none once it is free. */
            readonly reason: string;
            /** @description The user or the part of Tandem that decided so. */
            readonly changed_by: string;
            /**
             * Format: date-time
             * @description Since when it takes no work.
             */
            readonly since: string | null;
            /**
             * Format: date-time
             * @description When maintenance ends, or by when what is drained has to be empty.
             */
            readonly until: string | null;
            /** @description What it is once no run holds it. */
            readonly state_when_free: components["schemas"]["PoolState"];
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly notes: string;
            /**
             * Format: decimal
             * @description Null for a GPU that costs what its node says.
             */
            readonly price_per_gpu_hour: string | null;
            /** @description Its drain: `GET /operations/{id}`; null while it is not drained itself. */
            readonly operation: string | null;
            readonly id: number;
            readonly node: string;
            /** @description Empty until its driver was asked. */
            readonly uuid: string;
            readonly index: number;
            readonly accelerator: string;
            /** @description Label of the lane that it works for; empty if it has none. */
            readonly lane: string;
            /** @description By what its driver has counted since it was put into service. */
            readonly health: components["schemas"]["HealthEnum"];
            /** @description What ails it, the worst first. */
            readonly health_causes: readonly string[];
            /** @description What its vendor recommends; `none` for nothing. */
            readonly remedy: string;
            /** Format: date-time */
            readonly health_since: string;
            /**
             * Format: double
             * @description Its seconds of work ÷ the median of its peers'; null unless it is slower than they.
             */
            readonly slow_factor: number | null;
            /**
             * Format: date-time
             * @description Since when it has done nothing for its run; null while it works or is free.
             */
            readonly idle_since: string | null;
            /**
             * Format: double
             * @description The longest time that it did nothing for its run.
             */
            readonly longest_idle_seconds: number;
            readonly identity: components["schemas"]["GpuIdentity"] | null;
            readonly topology: components["schemas"]["GpuTopology"] | null;
            readonly live: components["schemas"]["GpuLive"] | null;
            readonly faults: components["schemas"]["GpuFaults"] | null;
            /** Format: date-time */
            readonly reported_at: string | null;
            /** @description The test that it waits for, or that is under way. */
            readonly test: components["schemas"]["GpuTest"] | null;
        };
        /** @description One page: A GPU as its node's agent reported it last. */
        readonly PoolGpuPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["PoolGpu"][];
        };
        /** @description A lane of the pool, and the run that holds it if you may see that run. */
        readonly PoolLane: {
            readonly state: components["schemas"]["PoolState"];
            /** @description What is decided about: a lane, its GPU or its node. */
            readonly place: string;
            /** @description Why it takes no work, or will take none once it is free. */
            readonly reason: string;
            /** @description The user or the part of Tandem that decided so. */
            readonly changed_by: string;
            /**
             * Format: date-time
             * @description Since when it takes no work.
             */
            readonly since: string | null;
            /**
             * Format: date-time
             * @description When maintenance ends, or by when what is drained has to be empty.
             */
            readonly until: string | null;
            /** @description What it is once no run holds it. */
            readonly state_when_free: components["schemas"]["PoolState"];
            readonly id: number;
            readonly node: string;
            /** @description Name of the pool that it is in. */
            readonly pool: string;
            readonly label: string;
            readonly kind: components["schemas"]["LaneKind"];
            readonly device: string;
            /** @description Whether it takes new work once it is free. */
            readonly takes_work: boolean;
            /** @description Its role in the run that holds it. */
            readonly role: string;
            /** Format: date-time */
            readonly held_since: string | null;
            /**
             * Format: uuid
             * @description Id of the run that holds it; also null for a run of another project.
             */
            readonly run_id: string | null;
            readonly run_name: string;
        };
        /** @description One page: A lane of the pool, and the run that holds it if you may see that run. */
        readonly PoolLanePage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["PoolLane"][];
        };
        /** @description A node with its GPUs and lanes. */
        readonly PoolNode: {
            readonly state: components["schemas"]["PoolState"];
            /** @description What is decided about: a lane, its GPU or its node. */
            readonly place: string;
            /** @description Why it takes no work, or will take none once it is free. */
            readonly reason: string;
            /** @description The user or the part of Tandem that decided so. */
            readonly changed_by: string;
            /**
             * Format: date-time
             * @description Since when it takes no work.
             */
            readonly since: string | null;
            /**
             * Format: date-time
             * @description When maintenance ends, or by when what is drained has to be empty.
             */
            readonly until: string | null;
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly notes: string;
            /**
             * Format: decimal
             * @description Null for a GPU that costs what its node says.
             */
            readonly price_per_gpu_hour: string | null;
            /** @description Its drain: `GET /operations/{id}`; null while it is not drained itself. */
            readonly operation: string | null;
            readonly id: number;
            readonly name: string;
            readonly address: string;
            /** @description Whether it is draining and no run is left on it. */
            readonly is_drained: boolean;
            readonly num_cores: number | null;
            readonly memory_bytes: number | null;
            readonly memory_used_bytes: number | null;
            /** @description What Ray's object store may hold in shared memory. */
            readonly object_store_bytes: number | null;
            /** @description What is free of the node's shared memory. */
            readonly shm_free_bytes: number | null;
            /** @description What is free on the disk that Ray's objects spill to. */
            readonly spill_free_bytes: number | null;
            /** @description What embeddings of prompts may take on the node's disk, stored ones included. */
            readonly embeddings_room_bytes: number | null;
            /** Format: double */
            readonly load: number | null;
            /**
             * Format: date-time
             * @description When Ray last counted it as alive.
             */
            readonly in_cluster_at: string | null;
            /**
             * Format: date-time
             * @description When its own agent was last heard.
             */
            readonly reported_at: string | null;
            /** @description Why its GPUs could not be read. */
            readonly reader_error: string;
            /** @description How many of its GPUs make a lane; held lanes may have others. */
            readonly gpus_per_lane: number;
            readonly num_lanes: number;
            readonly num_held: number;
            readonly gpus: readonly components["schemas"]["PoolGpu"][];
            readonly lanes: readonly components["schemas"]["PoolLane"][];
        };
        /** @description One page: A node with its GPUs and lanes. */
        readonly PoolNodePage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["PoolNode"][];
        };
        /** @description One page: Lanes with a queue, shares and a policy of their own. */
        readonly PoolPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Pool"][];
        };
        readonly PoolPolicy: {
            readonly pool: string;
            /**
             * Format: double
             * @description After which use counts half in fair share.
             */
            readonly half_life_hours: number;
            /**
             * Format: double
             * @description In which a lane that is asked back may finish its fragment; then the fragment is drawn again elsewhere.
             */
            readonly reclaim_seconds: number;
            /** @description For how long a GPU that a run holds may do nothing before it is warned of. */
            readonly idle_warning_minutes: number;
            /** @description After how long without any work it is taken from the run, which shrinks where it may or else is paused; null for never. */
            readonly idle_release_minutes: number | null;
        };
        /** @description What a project may have of a pool, has, and used lately; in lanes of the kind that generates and trains. */
        readonly PoolShare: {
            readonly pool: string;
            /** Format: uuid */
            readonly project_id: string;
            readonly project_name: string;
            readonly guaranteed_lanes: number;
            readonly max_lanes: number | null;
            /** Format: double */
            readonly weight: number;
            /**
             * Format: double
             * @description Its guarantee, and its part of what nobody is guaranteed.
             */
            readonly entitled_lanes: number;
            readonly held_lanes: number;
            /**
             * Format: double
             * @description Of late: each hour counts half after a half-life.
             */
            readonly used_lane_hours: number;
            readonly num_waiting: number;
        };
        /** @description One page: What a project may have of a pool, has, and used lately; in lanes of the kind that generates and trains. */
        readonly PoolSharePage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["PoolShare"][];
        };
        /** @enum {string} */
        readonly PoolState: "available" | "allocated" | "cordoned" | "draining" | "maintenance" | "awaiting_test" | "faulty" | "lost";
        /** @description Changes that are not made. */
        readonly PoolsToTry: {
            readonly nodes?: readonly components["schemas"]["LabelsToTry"][];
            readonly gpus?: readonly components["schemas"]["LabelsToTry"][];
            /** @description A new pool, or a changed one. */
            readonly pool?: components["schemas"]["NewPool"] | null;
        };
        readonly Preset: {
            readonly name: string;
            readonly title: string;
            readonly description: string;
            readonly spec: components["schemas"]["RunSpec"];
        };
        /** @description One page: PresetBody */
        readonly PresetPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Preset"][];
        };
        readonly Preview: {
            /** Format: uuid */
            readonly id: string;
            readonly state: components["schemas"]["PreviewState"];
            /** @description What a queued preview waits for. */
            readonly waiting: string;
            readonly error: string;
            readonly prompts: readonly string[];
            readonly num_samples: number;
            readonly seed: number;
            readonly policy_version: number;
            /** Format: date-time */
            readonly created_at: string;
            /** @description Samples of the trained version. */
            readonly samples: readonly components["schemas"]["PreviewImage"][];
            /** @description Samples of the base model from the same seeds. */
            readonly base_samples: readonly components["schemas"]["PreviewImage"][];
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
        };
        readonly PreviewAnswer: {
            /** Format: uuid */
            readonly preview_id: string;
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
        };
        readonly PreviewImage: {
            readonly prompt: string;
            readonly seed: number;
            /** @description `image/png`, or `video/webm` for clips. */
            readonly media_type: string;
            /** @description The picture; null for a clip. */
            readonly image_url: string | null;
            /** @description The clip; null for a picture. */
            readonly clip_url: string | null;
        };
        /** @enum {string} */
        readonly PreviewState: "queued" | "running" | "done" | "failed" | "cancelled";
        /**
         * Priority
         * @description Order of a project's runs in the queue, first to last; among equals the older run is first.
         * @enum {string}
         */
        readonly Priority: "high" | "normal" | "low";
        /** @enum {string} */
        readonly PriorityEnum: "high" | "normal" | "low";
        /**
         * Problem
         * @description Why a call was refused (RFC 9457); some refusals have further members, such as a run's state.
         */
        readonly Problem: {
            readonly type: string;
            /** @description The phrase of the HTTP status. */
            readonly title: string;
            readonly status: number;
            /** @description One sentence for the user. */
            readonly detail: string;
            /** @description Messages by dotted field path; `__all__` holds those that concern no single field. */
            readonly errors?: {
                readonly [key: string]: readonly string[];
            };
        } & {
            readonly [key: string]: unknown;
        };
        readonly Project: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly slug: string;
            /** @description Your role in the project, as far as your token goes. */
            readonly role: components["schemas"]["ProjectRole"];
            /** Format: date-time */
            readonly created_at: string;
        };
        readonly ProjectName: {
            readonly name: string;
        };
        readonly ProjectPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Project"][];
        };
        /**
         * ProjectRole
         * @description Ordered from least to most; `accounts.access` is the only reader of the order.
         * @enum {string}
         */
        readonly ProjectRole: "viewer" | "editor" | "owner";
        readonly ProjectsFrame: components["schemas"]["RunChangedFrame"] | components["schemas"]["HeartbeatFrame"];
        readonly Prompt: string | {
            /** @description What the model is asked to generate. */
            readonly text: string;
            /**
             * @description What it is to avoid, for families with a negative prompt. Null: `sampling.negative_prompt` of the run.
             * @default null
             */
            readonly negative?: string | null;
            /**
             * @description Facts for rewards, as a JSON object: counts, objects and colours to check, a reference answer. Reward code of
             *     your own reads them; the model never sees them.
             * @default {}
             */
            readonly metadata?: {
                readonly [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description Paths of pictures below TANDEM_MODEL_ROOTS that rewards may compare with. Remote scorers get their bytes.
             * @default []
             */
            readonly pictures?: readonly string[];
            /**
             * @description Name of the prompt, by which samples of different runs are compared. By default a digest of all the rest.
             * @default
             */
            readonly id?: string;
        };
        /**
         * PromptAudit
         * @description What became of the groups of one prompt.
         */
        readonly PromptAudit: {
            readonly prompt_index: number;
            readonly text: string;
            /** @description Groups that were drawn of it and are complete. */
            readonly num_groups: number;
            /** @description Groups whose rewards are all equal, by their last draw. */
            readonly num_without_spread: number;
            /** @description Draws that were dropped for want of spread (`batch.max_resamples`). */
            readonly num_dropped_draws: number;
            /** @description Samples that lack a trained reward. */
            readonly num_missing: number;
            /** @description Fragments that were generated once more, because their lane was lost. */
            readonly num_repeated_fragments: number;
            /** @description Mean over its groups; null where no sample has a reward. */
            readonly mean_reward: number | null;
            readonly last_batch: number;
            /** @description The newest groups, in the order of their batches. */
            readonly visits: readonly components["schemas"]["PromptVisit"][];
        };
        /**
         * PromptAuditPage
         * @description Some prompts, and the sums over all.
         */
        readonly PromptAuditPage: {
            readonly totals: components["schemas"]["PromptTotals"];
            readonly results: readonly components["schemas"]["PromptAudit"][];
            /** @description Where the next page begins; null at the end. */
            readonly next_offset: number | null;
        };
        readonly PromptSet: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            /** Format: uuid */
            readonly project: string;
            readonly num_prompts: number;
            readonly prompts: readonly components["schemas"]["Prompt"][];
            /** Format: date-time */
            readonly created_at: string;
        };
        /**
         * PromptSpec
         * @description The prompts that a run trains on: written in the spec, or an uploaded prompt set. Exactly one of the two.
         */
        readonly PromptSpec: {
            /**
             * @description Prompts written in the spec, each at most once: texts, or objects with `text` and any of `negative`, `metadata`,
             *     `pictures` and `id`. A batch takes `batch.num_prompts_per_batch` of them in turn, so there must be at least that
             *     many.
             * @default []
             */
            readonly inline: readonly components["schemas"]["Prompt"][];
            /**
             * @description Id of an uploaded prompt set, instead of `inline`. Use one for more than a few dozen prompts, or for prompts that
             *     several runs share.
             * @default null
             */
            readonly prompt_set: string | null;
        };
        /**
         * PromptTotals
         * @description The same over all prompts of a run.
         */
        readonly PromptTotals: {
            /** @description Prompts of the run. */
            readonly num_prompts: number;
            /** @description Prompts of which no group is complete yet. */
            readonly num_never_drawn: number;
            /** @description Prompts with groups, all of them without spread: they have taught nothing. */
            readonly num_never_varying: number;
            readonly num_groups: number;
            readonly num_without_spread: number;
            readonly num_dropped_draws: number;
            readonly num_missing: number;
            readonly num_repeated_fragments: number;
        };
        /**
         * PromptVisit
         * @description One group of a prompt.
         */
        readonly PromptVisit: {
            readonly batch: number;
            readonly mean_reward: number | null;
            readonly reward_std: number;
            readonly has_spread: boolean;
        };
        /** Pruner */
        readonly Pruner: {
            /**
             * @description `successive_halving` is Optuna's `SuccessiveHalvingPruner` (ASHA): at each rung a point goes on only if it is
             *     among the best of those that have reached the rung before it.
             * @default none
             */
            readonly kind: components["schemas"]["PrunerKind"];
            /**
             * @description Samples that a run has trained on at the first rung; the following ones are `reduction_factor` times as far
             *     each. Of successive halving alone.
             * @default null
             */
            readonly min_samples: number | null;
            /**
             * @description One of so many points goes on from a rung.
             * @default 3
             */
            readonly reduction_factor: number;
        };
        /**
         * PrunerKind
         * @enum {string}
         */
        readonly PrunerKind: "none" | "successive_halving";
        /**
         * PublishEvent
         * @description A policy version that the trainer published and every rollout lane has pulled and verified.
         */
        readonly PublishEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "publish";
            readonly policy_version: number;
            readonly num_bytes: number;
            readonly num_tensors: number;
            readonly sha256: string;
            readonly seconds: number;
            /**
             * @description Lanes that bound it from their trainers' broadcast, with `pipeline.publishing: direct`.
             * @default 0
             */
            readonly num_direct: number;
            /**
             * @description Lanes that the broadcast was for and that fetched the copy in the object store instead.
             * @default 0
             */
            readonly num_missed: number;
        };
        /**
         * PublishFields
         * @description A policy version that the trainer published and every rollout lane has pulled and verified.
         */
        readonly PublishFields: {
            readonly policy_version: number;
            readonly num_bytes: number;
            readonly num_tensors: number;
            readonly sha256: string;
            readonly seconds: number;
            /**
             * @description Lanes that bound it from their trainers' broadcast, with `pipeline.publishing: direct`.
             * @default 0
             */
            readonly num_direct: number;
            /**
             * @description Lanes that the broadcast was for and that fetched the copy in the object store instead.
             * @default 0
             */
            readonly num_missed: number;
        };
        /**
         * PublishItem
         * @description A `publish` event in the stream.
         */
        readonly PublishItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "publish";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["PublishFields"];
        };
        /** PublishedVersion */
        readonly PublishedVersion: {
            readonly policy_version: number;
            readonly at: number;
        };
        /**
         * Publishing
         * @description The way of a policy version from trainer lanes to rollout lanes.
         * @enum {string}
         */
        readonly Publishing: "store" | "direct";
        readonly QueueBlocker: {
            readonly kind: components["schemas"]["QueueBlockerKind"];
            /** @description Kind of lane that it is about; empty where it is about no kind. */
            readonly lane_kind: string;
            /** @description Lanes of that kind that are missing. */
            readonly missing: number;
            readonly text: string;
        };
        /** @enum {string} */
        readonly QueueBlockerKind: "quota" | "budget" | "pool_too_small" | "out_of_service" | "lanes_held" | "runs_ahead" | "starting";
        /** QueueDepths */
        readonly QueueDepths: {
            readonly at: number;
            /** @description Number of entries by the queue's name. */
            readonly depths: {
                readonly [key: string]: number;
            };
        };
        /** @enum {string} */
        readonly QueueDirection: "front" | "up" | "down";
        /**
         * QueueEvent
         * @description Lengths of the queues at one moment: fragments to generate, fragments to score, groups ready to train.
         */
        readonly QueueEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "queues";
            readonly batch: number;
            readonly depths: {
                readonly [key: string]: number;
            };
        };
        /**
         * QueueFields
         * @description Lengths of the queues at one moment: fragments to generate, fragments to score, groups ready to train.
         */
        readonly QueueFields: {
            readonly batch: number;
            readonly depths: {
                readonly [key: string]: number;
            };
        };
        /**
         * QueueItem
         * @description A `queues` event in the stream.
         */
        readonly QueueItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "queues";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["QueueFields"];
        };
        readonly QueueMove: {
            readonly direction: components["schemas"]["QueueDirection"];
            /** @description Everybody who sees the queue reads it. */
            readonly reason: string;
        };
        /** @description A run that waits for lanes. */
        readonly QueuedRun: {
            readonly pool: string;
            /** @description Runs of its pool that are served before it; null for one that its project's limit stops. */
            readonly position: number | null;
            /**
             * Format: uuid
             * @description Null for a run of a project that is not yours.
             */
            readonly run_id: string | null;
            readonly run_name: string;
            /** Format: uuid */
            readonly project_id: string | null;
            readonly project_name: string;
            readonly priority: components["schemas"]["PriorityEnum"];
            /** @description Lanes that it wants, by kind. */
            readonly lanes: {
                readonly [key: string]: number;
            };
            /** Format: date-time */
            readonly since: string;
            /** @description What it waits for, in one sentence. */
            readonly why: string;
            /** @description When it is expected to start, if nobody else joins the queue and its order stays; null if unknown. */
            readonly starts: components["schemas"]["ForecastTimes"] | null;
            /** @description What is known of how long it is going to hold its lanes. */
            readonly duration_basis: components["schemas"]["ForecastBasis"];
            /** @description What keeps it from starting. */
            readonly blockers: readonly components["schemas"]["QueueBlocker"][];
            readonly ahead: components["schemas"]["RunsAhead"];
            /** @description What an admin did to its place; null where nobody did. */
            readonly moved: components["schemas"]["MovedInQueue"] | null;
            /** @description Whether you may change its priority and its lanes. */
            readonly may_change: boolean;
        };
        /** @description One page: A run that waits for lanes. */
        readonly QueuedRunPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["QueuedRun"][];
        };
        readonly Ready: {
            readonly ok: boolean;
            readonly checks: {
                readonly [key: string]: string;
            };
            readonly database_circuit: components["schemas"]["DatabaseCircuit"];
        };
        /**
         * RecordedResize
         * @description A change of the run's lanes while it worked.
         */
        readonly RecordedResize: {
            readonly id: string;
            readonly cause: components["schemas"]["ResizeCause"];
            /** @description Name of the user; null where Tandem decided itself, and for an account that was deleted. */
            readonly requested_by: string | null;
            /**
             * @description `requested` until the driver has reported on it.
             * @enum {string}
             */
            readonly state: "requested" | "accepted" | "done" | "failed";
            /** @description Why it failed, in one sentence. */
            readonly reason: string;
            readonly lanes: readonly components["schemas"]["LaneProgress"][];
            readonly trainer_seconds: components["schemas"]["TrainerChangeSeconds"] | null;
            /** Format: date-time */
            readonly created_at: string;
            readonly ended_at: string | null;
        };
        /**
         * ReflSpec
         * @description ReFL (arXiv 2304.05977): predicts the finished sample from one late denoising step and follows the gradient of
         *     its reward. Needs differentiable rewards.
         */
        readonly ReflSpec: {
            /**
             * @description Weight of the squared distance to the base model's velocity in the loss, as a KL penalty. 0 needs no forward pass
             *     of the base model; ROLL's pipeline uses 1. Raise it when the reward rises while pictures get worse, which direct
             *     gradients bring about sooner than policy gradients do.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "refl";
            /**
             * @description Number of last denoising steps among which the step with the gradient is drawn for each group. It must be below
             *     `sampling.num_denoising_steps`. Predictions from earlier steps are blurred, so their rewards say less; the paper
             *     stays within the last quarter.
             * @default 3
             */
            readonly num_late_steps: number;
            /**
             * @description Weight of the reward in the loss. The paper's is 0.001 for ImageReward; scale it inversely to the reward's range,
             *     and down when training is unstable.
             * @default 1
             */
            readonly reward_scale: number;
            /**
             * @description Reward from which on a sample gets no gradient, in units of the reward. Empty: no ceiling. ReFL's recipe stops at
             *     2 for ImageReward; use one against over-optimisation, at a reward that good samples reach.
             * @default null
             */
            readonly reward_ceiling: number | null;
        };
        readonly Refusal: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            /** @description One sentence. */
            readonly reason: string;
        };
        /**
         * RemoteFormat
         * @description Encodings of requests to a remote scorer.
         * @enum {string}
         */
        readonly RemoteFormat: "msgpack" | "json";
        /**
         * RemoteSettings
         * @description A scorer of your own behind HTTP. The protocol, with an example server, is in deploy/docs/guides/rewards.md.
         */
        readonly RemoteSettings: {
            /**
             * @description Address that fragments are posted to, such as https://scorer.example/score. Its host must be reachable from the
             *     reward lanes, and public, or one that an administrator allows in `TANDEM_SCORER_HOSTS`, as one without TLS must be.
             *     It holds no user or password: use `secret` for a token.
             */
            readonly url: string;
            /**
             * @description Name of the scorer, on a server that has several. Empty: the server's only one.
             * @default
             */
            readonly scorer: string;
            /**
             * @description Name of a project secret that is sent as bearer token. The token itself is stored encrypted and is never part of
             *     a spec. Empty: no token is sent.
             * @default null
             */
            readonly secret: string | null;
            /**
             * @description Encoding of requests. `msgpack` sends pictures as bytes and is usual; `json` sends them as base64 text, a third
             *     larger, for servers without msgpack.
             * @default msgpack
             */
            readonly format: components["schemas"]["RemoteFormat"];
        };
        /**
         * ReplayBody
         * @description Successive batches of a run as they were, replayed as they ran, and replayed under other settings.
         */
        readonly Replay: {
            /** @description Number of the first counted batch, from 1. */
            readonly first_batch: number;
            readonly num_batches: number;
            readonly num_batches_drawn: number;
            readonly measured: components["schemas"]["ReplaySchedule"];
            /** @description The replay under the run's own settings; without spans. */
            readonly own: components["schemas"]["ReplaySchedule"];
            readonly chosen: components["schemas"]["ReplaySchedule"];
            /** @description Of `chosen` on another device than the run's; null on its own. */
            readonly chosen_range: components["schemas"]["SecondsRange"] | null;
            readonly errors: components["schemas"]["ReplayErrors"];
            /** @description The run's spec with the settings asked for, to start a run with. */
            readonly spec: components["schemas"]["RunSpec"];
            /** @description What the replay cannot know, in sentences. */
            readonly warnings: readonly string[];
        };
        /**
         * ReplayErrorsBody
         * @description Replayed ÷ measured seconds under the run's own settings, less 1.
         */
        readonly ReplayErrors: {
            /** @description With each piece of work as long as it was recorded. */
            readonly recorded: number;
            /** @description With each as long as such work takes on average. */
            readonly costs: number;
        };
        /**
         * ReplayGateSpec
         * @description The check before the first update on each batch: replaying the stored denoising steps in training must give what
         *     rollout computed. A run beyond a bound fails, because rollout and trainer lanes then differ in weights, precision or
         *     schedule, and would train on wrong ratios. Errors are |μ_replay − μ_rollout| / std of each element: how far the mean
         *     of a replayed denoising step lies from the one that rollout computed, in standard deviations of its noise.
         */
        readonly ReplayGateSpec: {
            /**
             * @description Bound on the largest error of all elements. Empty: 0.001 in fp32; in bf16 it is reported and not judged, since
             *     the largest of a billion rounding errors grows with their number. Raise it only when the difference is known to be
             *     rounding.
             * @default null
             */
            readonly max_mean_error: number | null;
            /**
             * @description Bound on the root mean square of the errors. Empty: 0.02 in bf16, where another size of batch already rounds
             *     differently; in fp32 the largest error is judged instead.
             * @default null
             */
            readonly max_rms_error: number | null;
            /**
             * @description Bound on the error that 999 of 1000 elements stay within. Empty: 0.1 in bf16; in fp32 the largest error is judged
             *     instead.
             * @default null
             */
            readonly max_quantile_error: number | null;
            /**
             * @description Bound on max|ratio − 1| of replayed denoising steps, where 1 means that rollout and training agree. Empty: 0.0001
             *     in fp32 and 0.01 in bf16. It averages over all dimensions of a sample, so it is the weakest of the bounds.
             * @default null
             */
            readonly max_ratio_error: number | null;
        };
        /** @description What is to be otherwise than it was; what is left out stays. */
        readonly ReplayRequest: {
            readonly placement?: components["schemas"]["PlacementEnum"];
            readonly gap?: boolean;
            readonly tsp?: boolean;
            readonly tag?: components["schemas"]["TagEnum"];
            readonly max_staleness?: number;
            readonly fragment_size?: number;
            readonly num_rollout?: number;
            readonly num_trainer?: number;
            readonly num_reward?: number;
            /** @description An accelerator with a profile, for every lane that generates or trains. */
            readonly device?: components["schemas"]["DeviceEnum"];
        };
        /**
         * ReplaySchedule
         * @description What lanes did in the counted batches. Seconds count from the beginning of the first of them.
         */
        readonly ReplaySchedule: {
            /** @description Until the last of the batches was published. */
            readonly seconds: number;
            /** @description From one published version to the next. */
            readonly batch_seconds: readonly number[];
            /**
             * @description Seconds of all lanes together by class: a span kind, or `idle:<cause>`. Decoding, encoding and evaluating
             *     count as the generation or scoring that they are a part of, since a replay does not tell them apart.
             */
            readonly lane_seconds: {
                readonly [key: string]: number;
            };
            /** @description The spans of the first `num_batches_drawn` batches. */
            readonly spans: readonly components["schemas"]["Span"][];
        };
        /**
         * Resize
         * @description The lanes that a resize adds, releases and gives another role.
         */
        readonly Resize: {
            /**
             * @description Lanes that join; the pool has allocated them to the run.
             * @default []
             */
            readonly add: readonly components["schemas"]["LaneGrant"][];
            /**
             * @description Ids of lanes that leave the run.
             * @default []
             */
            readonly release: readonly string[];
            /**
             * @description Lanes that get another role. A plan of the run's own may name trainer lanes that stay trainer lanes: the gang is
             *     then replaced by one of processes that are loaded for the plan's switches.
             * @default []
             */
            readonly change: readonly components["schemas"]["RoleChange"][];
            /**
             * @description Who asked for it.
             * @default user
             */
            readonly cause: components["schemas"]["ResizeCause"];
            /**
             * @description Seconds after which rollout and reward lanes that leave are let go in any case: what one has under way by then is
             *     dropped, and others do it again from the same seeds. Empty: each lane finishes what it has under way.
             * @default null
             */
            readonly within_seconds: number | null;
        };
        readonly ResizeAnswer: {
            /**
             * Format: uuid
             * @description Id of the resize, and of its command.
             */
            readonly resize_id: string;
            /** @description Its operation: `GET /operations/{id}`. */
            readonly operation: string;
        };
        /**
         * ResizeCause
         * @description Who asked for a resize.
         * @enum {string}
         */
        readonly ResizeCause: "user" | "plan" | "drain" | "borrow" | "reclaim" | "idle";
        /**
         * ResizeReport
         * @description How far a resize is, as `lanes` events carry it; a later report replaces it.
         */
        readonly ResizeReport: {
            /** @description The id of the command that asked for it, or one of the driver's own. */
            readonly id: string;
            /** @description Who asked for it. */
            readonly cause: components["schemas"]["ResizeCause"];
            /** @description How far it is. */
            readonly state: components["schemas"]["ResizeState"];
            /**
             * @description Why it failed, in one sentence.
             * @default
             */
            readonly reason: string;
            /**
             * @description The lanes that it names.
             * @default []
             */
            readonly lanes: readonly components["schemas"]["LaneProgress"][];
            /**
             * @description What replacing the trainer gang took; null before that, and where the gang stays as it is.
             * @default null
             */
            readonly trainer_seconds: components["schemas"]["TrainerChangeSeconds"] | null;
        };
        readonly ResizeRequest: {
            /** @description Free lanes of the pool that join the run. */
            readonly add?: readonly components["schemas"]["AddedLanes"][];
            /** @description Ids of lanes that leave the run. */
            readonly release?: readonly string[];
            /** @description Lanes of the run that get another role. */
            readonly change?: readonly components["schemas"]["ChangedLane"][];
        };
        /**
         * ResizeState
         * @description How far a resize is.
         * @enum {string}
         */
        readonly ResizeState: "accepted" | "done" | "failed";
        /**
         * ResumedEvent
         * @description This attempt resumed after `batch` complete batches; later points of earlier attempts are superseded.
         */
        readonly ResumedEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "resumed";
            readonly batch: number;
            readonly policy_version: number;
            readonly optimizer_step: number;
        };
        /**
         * ResumedFields
         * @description This attempt resumed after `batch` complete batches; later points of earlier attempts are superseded.
         */
        readonly ResumedFields: {
            readonly batch: number;
            readonly policy_version: number;
            readonly optimizer_step: number;
        };
        /**
         * ResumedItem
         * @description A `resumed` event in the stream.
         */
        readonly ResumedItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "resumed";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["ResumedFields"];
        };
        /** @description What is kept for how long. */
        readonly Retention: {
            readonly kinds: readonly components["schemas"]["KeptKind"][];
            /** @description Whether the worker deletes every hour what is past its days. */
            readonly is_automatic: boolean;
        };
        /** @enum {string} */
        readonly RetentionKind: "telemetry" | "samples" | "logs" | "scheduler events";
        /**
         * RevisedPlan
         * @description A plan that a run uses.
         */
        readonly RevisedPlan: {
            /** @enum {string} */
            readonly mode: "colocated" | "disaggregated" | "gap" | "tsp" | "tag" | "stale";
            readonly trainers: readonly number[];
            readonly by_mode: {
                readonly [key: string]: components["schemas"]["PlanChoice"];
            };
            readonly curves: {
                readonly [key: string]: readonly components["schemas"]["SplitPoint"][];
            };
            readonly bound_samples_per_second: number;
            readonly devices: readonly string[];
            readonly scoring: components["schemas"]["PlannedScoring"];
            /** @enum {string} */
            readonly costs: "measured" | "own" | "profile" | "corrected";
            readonly stand_in_profile: string | null;
            readonly num_batches_measured: number;
            readonly fragment_sizes_measured: readonly number[];
            readonly expected: readonly components["schemas"]["WorkCost"][];
            readonly attempt: number;
            /** @description Number of the plan among the run's plans, from 1. */
            readonly revision: number;
            /** @description Number of complete batches when the plan took effect. */
            readonly since_batch: number;
            /** @description Why the run uses it, in one sentence. */
            readonly reason: string;
        };
        /** @description A scorer that a spec can name. */
        readonly Reward: {
            /** @description Value for `rewards.*.name` in a spec. */
            readonly name: string;
            /** @description What it measures. */
            readonly description: string;
            readonly scores_images: boolean;
            /** @description Clips as a whole, or by the mean over at most 8 evenly spaced frames. */
            readonly scores_videos: boolean;
            /** @description What it is given of a sample. */
            readonly looks_at: string;
            /** @description What it reads of the prompt; empty for nothing. */
            readonly prompt: string;
            /**
             * Format: double
             * @description The least score; null for no bound.
             */
            readonly lowest: number | null;
            /**
             * Format: double
             * @description The greatest score.
             */
            readonly highest: number | null;
            /** @description The range that scores are in, in words. */
            readonly usual: string;
            /** @description What must be there for it. */
            readonly needs: string;
            /** @description How policies are known to exploit it. */
            readonly gamed: string;
            /** @description A paper or a repository; empty for Tandem's own. */
            readonly source: string;
            /** @description 1 for a right sample, 0 for a wrong one: its mean is a share. */
            readonly is_verdict: boolean;
            /** @description Whether algorithms that follow its gradient may use it. */
            readonly is_differentiable: boolean;
            /** @description JSON schema of `rewards.*.settings`; null for a scorer that has none. */
            readonly settings: {
                readonly [key: string]: unknown;
            } | null;
            /** @description Where its network is loaded from by default, by setting; null where the spec has to name it. */
            readonly weights: {
                readonly [key: string]: string | null;
            };
            /** @description Names of the presets that use it. */
            readonly presets: readonly string[];
        };
        /**
         * RewardChange
         * @description How a reward's mean changed over some batches.
         */
        readonly RewardChange: {
            /** @description From the first to the last batch, by a line fitted to the batches' means. */
            readonly change: number;
            /** @description Of `change`. */
            readonly standard_error: number;
        };
        /**
         * RewardDevice
         * @description What reward lanes compute their scorers' networks on.
         * @enum {string}
         */
        readonly RewardDevice: "auto" | "cpu" | "shared_gpu" | "own_gpu";
        /**
         * RewardFlowSpec
         * @description Reward flow (ROLL's pipeline for IPRO, arXiv 2510.14255): follows the gradient of the reward back through the
         *     last denoising steps. Needs differentiable rewards.
         */
        readonly RewardFlowSpec: {
            /**
             * @description Weight of the squared distance to the base model's velocity in the loss, as a KL penalty. 0 needs no forward pass
             *     of the base model; ROLL's pipeline uses 1. Raise it when the reward rises while pictures get worse, which direct
             *     gradients bring about sooner than policy gradients do.
             * @default 0
             */
            readonly kl_coefficient: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly name: "reward_flow";
            /**
             * @description Number of last denoising steps that carry the gradient. It must be below `sampling.num_denoising_steps`. ROLL's
             *     pipeline uses 4 of 8; activation memory and training time grow with each.
             * @default 2
             */
            readonly num_gradient_steps: number;
            /**
             * @description Weight of the normalised reward in the loss. 0.1 is ROLL's; lower it when training is unstable.
             * @default 0.1
             */
            readonly reward_scale: number;
            /**
             * @description Mean subtracted from the reward before it is weighted, in units of the reward. It shifts the loss curve and has
             *     no effect on the gradient; ROLL's is 0.54 for its face reward.
             * @default 0
             */
            readonly reward_mean: number;
            /**
             * @description Standard deviation that the reward is divided by, in units of the reward. Set it to the spread of your reward
             *     (ROLL: 0.16), so that `reward_scale` means the same for every reward.
             * @default 1
             */
            readonly reward_std: number;
        };
        /**
         * RewardHackingEvent
         * @description Reward hacking has become suspected, or ceased to be: the optimised reward rises while a monitored one falls,
         *     both beyond their noise. It is a hint to look at the samples, not a proof.
         */
        readonly RewardHackingEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "reward_hacking";
            readonly suspected: boolean;
            /** @description The last of the batches that were looked at. */
            readonly batch: number;
            /** @description Number of batches over which the changes are measured. */
            readonly num_batches: number;
            /** @description Key of the monitored reward. */
            readonly monitored: string;
            readonly optimised_change: components["schemas"]["RewardChange"];
            readonly monitored_change: components["schemas"]["RewardChange"];
        };
        /**
         * RewardHackingFields
         * @description Reward hacking has become suspected, or ceased to be: the optimised reward rises while a monitored one falls,
         *     both beyond their noise. It is a hint to look at the samples, not a proof.
         */
        readonly RewardHackingFields: {
            readonly suspected: boolean;
            /** @description The last of the batches that were looked at. */
            readonly batch: number;
            /** @description Number of batches over which the changes are measured. */
            readonly num_batches: number;
            /** @description Key of the monitored reward. */
            readonly monitored: string;
            readonly optimised_change: components["schemas"]["RewardChange"];
            readonly monitored_change: components["schemas"]["RewardChange"];
        };
        /**
         * RewardHackingItem
         * @description A `reward_hacking` event in the stream.
         */
        readonly RewardHackingItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "reward_hacking";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["RewardHackingFields"];
        };
        /**
         * RewardMixing
         * @description How several trained rewards become one advantage.
         * @enum {string}
         */
        readonly RewardMixing: "sum" | "normalised";
        /**
         * RewardName
         * @description The scorers.
         * @enum {string}
         */
        readonly RewardName: "shape_match" | "shape_judge" | "jpeg_compressibility" | "colorfulness" | "ocr" | "clip_score" | "pick_score" | "hps_v2" | "image_reward" | "aesthetic" | "motion_smoothness" | "remote";
        /** @description One page: A scorer that a spec can name. */
        readonly RewardPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Reward"][];
        };
        /**
         * RewardSpec
         * @description One scorer: what it counts in training, and what happens when it fails. `watched` rewards are measured and shown
         *     but not trained on, to make reward hacking visible.
         */
        readonly RewardSpec: {
            /**
             * @description Which scorer computes the reward. Preference models (`pick_score`, `hps_v2`) are usual for pictures, `ocr` for
             *     text in pictures; `remote` is a scorer of your own.
             */
            readonly name: components["schemas"]["RewardName"];
            /**
             * @description Name of its curves and columns, in lower case with underscores. Empty: the scorer's name. Needed only where a
             *     scorer is used twice, such as two `remote` ones.
             * @default null
             */
            readonly label: string | null;
            /**
             * @description Weight of the reward among those trained on, without unit; see `reward_mixing` for what is weighted. 1 is usual
             *     with a single reward, where the weight makes no difference.
             * @default 1
             */
            readonly weight: number;
            /**
             * @description Measure and show the reward without training on it. Watch one or two rewards besides the trained ones: if they
             *     fall while the trained one rises, the policy is exploiting the scorer.
             * @default false
             */
            readonly watched: boolean;
            /**
             * @description Whether the run fails when a sample cannot be scored, after all retries. Off: the sample is trained on without
             *     this reward, and the share of missing scores is a curve. Turn it off for a remote scorer that may be down for a
             *     while; watched rewards never fail a run.
             * @default true
             */
            readonly required: boolean;
            /**
             * @description Longest time in seconds that one call may take to score a fragment. 120 is usual; raise it for slow remote
             *     scorers and for networks on CPU slots.
             * @default 120
             */
            readonly timeout_seconds: number;
            /**
             * @description Further calls after a time-out, or after a failure that may pass, before a score counts as missing. 2 is usual;
             *     raise it for a remote scorer that is restarted now and then.
             * @default 2
             */
            readonly num_retries: number;
            /**
             * @description Settings of the scorer, which depend on `name`; scorers that compute from pixels have none. Empty: the
             *     defaults.
             * @default null
             */
            readonly settings: components["schemas"]["ClipScoreSettings"] | components["schemas"]["PickScoreSettings"] | components["schemas"]["HpsV2Settings"] | components["schemas"]["ImageRewardSettings"] | components["schemas"]["AestheticSettings"] | components["schemas"]["OcrSettings"] | components["schemas"]["RemoteSettings"] | null;
        };
        /** @enum {string} */
        readonly RewardsOnEnum: "auto" | "cpu" | "shared_gpu" | "own_gpu";
        /**
         * RoleChange
         * @description A lane of the run that gets another role.
         */
        readonly RoleChange: {
            /** @description The lane's id. */
            readonly lane: string;
            /** @description What it does from then on. */
            readonly role: components["schemas"]["LaneRole"];
        };
        /**
         * RoleStates
         * @description What the lanes of one role did.
         */
        readonly RoleStates: {
            /** @description Empty for lanes of which neither placement nor name tells it. */
            readonly role: string;
            /** @description Lanes that have reported since the run began and have, or had last, this role. */
            readonly num_lanes: number;
            /** @description By kind of span, the mean number of lanes in it, a number for each bucket. */
            readonly states: {
                readonly [key: string]: readonly number[];
            };
        };
        /**
         * RunBody
         * @description A run in full, as one reader may see it.
         */
        readonly Run: {
            readonly id: string;
            readonly name: string;
            readonly state: components["schemas"]["RunState"];
            /** Format: date-time */
            readonly state_changed_at: string;
            readonly phase: components["schemas"]["Phase"] | "";
            readonly attempt: number;
            readonly num_batches: number;
            readonly num_batches_done: number;
            readonly policy_version: number;
            readonly headline: components["schemas"]["Headline"];
            /** Format: date-time */
            readonly created_at: string;
            readonly started_at: string | null;
            readonly ended_at: string | null;
            readonly tags: readonly string[];
            readonly archived_at: string | null;
            readonly project: components["schemas"]["RunProject"];
            readonly created_by: string | null;
            readonly legal_actions: readonly components["schemas"]["CommandKind"][];
            readonly waiting: string;
            readonly warning: string;
            readonly sweep: components["schemas"]["RunSweep"] | null;
            readonly max_attempts: number;
            readonly spec: components["schemas"]["RunSpec"];
            readonly algebra: components["schemas"]["BatchAlgebra"];
            readonly algebra_text: string;
            readonly num_prompts: number;
            readonly last_heartbeat_at: string | null;
            readonly failure: components["schemas"]["Failure"] | null;
            readonly notes: string;
            /** @description Id of the run that this one was duplicated or forked from. */
            readonly parent: string | null;
            /** @description Complete batches of the parent's checkpoint that the run began from; null for one from the base model. */
            readonly forked_batch: number | null;
            /** @description Address of that checkpoint; empty for a run from the base model. */
            readonly forked_from: string;
            /** @description Complete batches of the checkpoint from which the next attempt resumes; null without one. */
            readonly resume_batch: number | null;
            /** @description The end that a user requested, `stop` or `cancel`; null before. */
            readonly ending: ("stop" | "cancel") | null;
        };
        /**
         * RunChangedFrame
         * @description A run of one of the user's projects changed: its line in the runs list.
         */
        readonly RunChangedFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "run_changed";
            readonly run: components["schemas"]["RunRow"];
        };
        /**
         * RunCommand
         * @description One command, as the driver receives it.
         */
        readonly RunCommand: {
            /** @description Identifier that the driver's answer repeats. */
            readonly id: string;
            /** @description What is asked. */
            readonly kind: components["schemas"]["CommandKind"];
            /**
             * @description For `sample_now`: prompts to generate from. Empty: the held-out ones.
             * @default []
             */
            readonly prompts: readonly components["schemas"]["Prompt"][];
            /**
             * @description For `resize`, and only for it: the lanes concerned.
             * @default null
             */
            readonly resize: components["schemas"]["Resize"] | null;
        };
        readonly RunEvent: components["schemas"]["PhaseEvent"] | components["schemas"]["LanesEvent"] | components["schemas"]["LaneStartEvent"] | components["schemas"]["LaneStallEvent"] | components["schemas"]["OutOfMemoryEvent"] | components["schemas"]["SlowLanesEvent"] | components["schemas"]["StateEvent"] | components["schemas"]["ResumedEvent"] | components["schemas"]["MetricsEvent"] | components["schemas"]["SpansEvent"] | components["schemas"]["SamplesEvent"] | components["schemas"]["EvaluationEvent"] | components["schemas"]["StalenessEvent"] | components["schemas"]["GroupsEvent"] | components["schemas"]["PublishEvent"] | components["schemas"]["AdapterEvent"] | components["schemas"]["CheckpointEvent"] | components["schemas"]["GateEvent"] | components["schemas"]["RewardHackingEvent"] | components["schemas"]["QueueEvent"] | components["schemas"]["LendEvent"] | components["schemas"]["CostsEvent"] | components["schemas"]["PlanEvent"] | components["schemas"]["SoftwareEvent"] | components["schemas"]["LogEvent"] | components["schemas"]["CommandDoneEvent"];
        readonly RunFrame: components["schemas"]["HelloFrame"] | components["schemas"]["SnapshotFrame"] | components["schemas"]["ItemsFrame"] | components["schemas"]["HeartbeatFrame"];
        readonly RunGroup: {
            /** @description What its runs have in common; empty for no tag, no preset or a deleted account. */
            readonly value: string;
            readonly number: number;
            /** @description Runs that hold lanes or are about to. */
            readonly num_live: number;
            readonly num_failed: number;
            /** @description Of all its runs together. */
            readonly num_batches_done: number;
            /**
             * Format: double
             * @description Best held-out reward of their newest evaluations; null without any.
             */
            readonly best_reward: number | null;
            /**
             * Format: double
             * @description Mean of the same.
             */
            readonly mean_reward: number | null;
        };
        /**
         * RunLane
         * @description A lane that the run holds now.
         */
        readonly RunLane: {
            /** @description Its id within the run. */
            readonly lane: string;
            readonly role: components["schemas"]["LaneRole"];
            readonly node: string;
            readonly device: string;
        };
        /** RunPlan */
        readonly RunPlan: {
            /** @description The plan; null where the user chose placement, and before lanes were given. */
            readonly plan: components["schemas"]["RevisedPlan"] | null;
            /** @description All plans of the run, the oldest first. */
            readonly steps: readonly components["schemas"]["GradedPlanStep"][];
        };
        /** RunProject */
        readonly RunProject: {
            readonly id: string;
            readonly name: string;
            /** @description The reader's role in the project; null for one who is no member. */
            readonly role: components["schemas"]["ProjectRole"] | null;
        };
        /**
         * RunRow
         * @description A line of the runs list.
         */
        readonly RunRow: {
            readonly id: string;
            readonly name: string;
            readonly state: components["schemas"]["RunState"];
            /** Format: date-time */
            readonly state_changed_at: string;
            /** @description What the driver is doing; empty before its first report. */
            readonly phase: components["schemas"]["Phase"] | "";
            /** @description Number of the newest attempt; 0 before the first. */
            readonly attempt: number;
            readonly num_batches: number;
            readonly num_batches_done: number;
            readonly policy_version: number;
            readonly headline: components["schemas"]["Headline"];
            /** Format: date-time */
            readonly created_at: string;
            readonly started_at: string | null;
            readonly ended_at: string | null;
            readonly tags: readonly string[];
            readonly archived_at: string | null;
        };
        /**
         * RunSize
         * @description The lanes of a run, those that could join it, and its resizes.
         */
        readonly RunSize: {
            readonly lanes: readonly components["schemas"]["RunLane"][];
            /** @description Roles that lanes of the run can have: a colocated run, planned so or asked for so, has no rollout lanes. */
            readonly roles: readonly components["schemas"]["LaneRole"][];
            /** @description Free lanes by such a role and by device. One lane may be counted for several roles. */
            readonly free: readonly components["schemas"]["FreeLanes"][];
            /**
             * @description What replacing the trainer gang is expected to take, from what the run has measured: checkpoint, start and
             *     restore. Null until the run has measured one of them.
             */
            readonly trainer_change_seconds: number | null;
            /** @description Whether all three parts are measured; otherwise the true seconds are more. */
            readonly is_trainer_change_measured: boolean;
            /** @description The newest first. */
            readonly resizes: readonly components["schemas"]["RecordedResize"][];
        };
        /**
         * RunSpec
         * @description Everything that a user asks for in a run, by sections. Frozen; unknown fields are refused.
         *
         *     Its JSON schema also lists, as `inapplicable`, which fields do not apply beside which values of others: see
         *     `worker.contracts.applicability`.
         */
        readonly RunSpec: {
            /**
             * @default {
             *       "path": "shapes",
             *       "family": "flux",
             *       "dtype": "fp32"
             *     }
             */
            readonly base_model: components["schemas"]["BaseModelSpec"];
            readonly prompts: components["schemas"]["PromptSpec"];
            /**
             * @description The scorers of the samples, each named once; at least one is trained on. Watch one or two that are not trained
             *     on, to notice when a reward rises at the cost of the pictures.
             */
            readonly rewards: readonly components["schemas"]["RewardSpec"][];
            /**
             * @description How several trained rewards become one advantage. `sum` adds the weighted raw scores, which suits rewards of like
             *     scale; `normalised` computes each reward's advantages first and averages them by weight (MixGRPO), which suits any
             *     others. It makes no difference for a single trained reward.
             * @default sum
             */
            readonly reward_mixing: components["schemas"]["RewardMixing"];
            /**
             * @description How the policy learns from the rewards: an algorithm by `name`, with its settings. `flow_grpo` is the usual one
             *     to begin with; `flow_grpo_fast` and `diffusion_nft` train at a fraction of its cost.
             * @default {
             *       "advantage_std": "group",
             *       "advantage_clip": 5,
             *       "kl_coefficient": 0,
             *       "clip_range": 0.0001,
             *       "name": "flow_grpo"
             *     }
             */
            readonly algorithm: components["schemas"]["FlowGrpoSpec"] | components["schemas"]["FlowGrpoFastSpec"] | components["schemas"]["MixGrpoSpec"] | components["schemas"]["DanceGrpoSpec"] | components["schemas"]["GrpoGuardSpec"] | components["schemas"]["FlowDppoSpec"] | components["schemas"]["DiffusionNftSpec"] | components["schemas"]["DiffusionDpoSpec"] | components["schemas"]["ReflSpec"] | components["schemas"]["RewardFlowSpec"];
            /**
             * @description Which weights are trained. `lora` trains low-rank layers, set up by `lora`, and is usual: megabytes to store and
             *     publish. `full` trains all weights of the transformer, about 16 bytes each over the trainer lanes; use it when a
             *     LoRA of high rank levels off, with a learning rate some 30 times smaller.
             * @default lora
             */
            readonly tuning: components["schemas"]["Tuning"];
            /**
             * @default {
             *       "rank": 16,
             *       "alpha": 32,
             *       "targets": []
             *     }
             */
            readonly lora: components["schemas"]["LoraSpec"];
            /**
             * @default {
             *       "learning_rate": 0.0003,
             *       "beta1": 0.9,
             *       "beta2": 0.999,
             *       "weight_decay": 0.0001,
             *       "max_grad_norm": 1
             *     }
             */
            readonly optimizer: components["schemas"]["OptimizerSpec"];
            /**
             * @default {
             *       "decay": 0,
             *       "every_num_optimizer_steps": 8
             *     }
             */
            readonly ema: components["schemas"]["EmaSpec"];
            /**
             * @default {
             *       "num_denoising_steps": 10,
             *       "num_eval_denoising_steps": 10,
             *       "height": 32,
             *       "width": 32,
             *       "num_frames": 1,
             *       "fps": 16,
             *       "guidance_scale": 1,
             *       "guidance_scale_2": null,
             *       "train_guidance_scale": null,
             *       "negative_prompt": "",
             *       "max_sequence_length": null,
             *       "batched_cfg": false,
             *       "vae_tiling": "auto",
             *       "sde_type": "flow",
             *       "noise_level": 0.7,
             *       "sde_start": 0,
             *       "num_sde_steps": null,
             *       "old_log_probs": "rollout"
             *     }
             */
            readonly sampling: components["schemas"]["SamplingSpec"];
            /**
             * @default {
             *       "num_prompts_per_batch": 8,
             *       "group_size": 8,
             *       "num_minibatches": 1,
             *       "num_epochs_per_batch": 1,
             *       "micro_batch_size": 8,
             *       "fragment_size": null,
             *       "filter_groups": false,
             *       "max_resamples": 0
             *     }
             */
            readonly batch: components["schemas"]["BatchSpec"];
            /**
             * @default {
             *       "placement": "disaggregated",
             *       "gap": true,
             *       "tsp": true,
             *       "tag": "off",
             *       "max_staleness": 0,
             *       "stale_clip": "proximal",
             *       "importance_cap": null,
             *       "publishing": "store",
             *       "deterministic": false
             *     }
             */
            readonly pipeline: components["schemas"]["PipelineSpec"];
            /**
             * @default {
             *       "num_rollout": 1,
             *       "num_trainer": 1,
             *       "num_reward": 1,
             *       "pool": "default",
             *       "rewards_on": "auto"
             *     }
             */
            readonly lanes: components["schemas"]["LaneSpec"];
            /**
             * @default {
             *       "min_rollout": null,
             *       "max_rollout": null,
             *       "min_trainer": null,
             *       "max_trainer": null,
             *       "min_reward": null,
             *       "max_reward": null
             *     }
             */
            readonly elastic: components["schemas"]["ElasticSpec"];
            /**
             * @default {
             *       "config": "zero0",
             *       "overrides": [],
             *       "gradient_checkpointing": null,
             *       "offload_idle_states": false,
             *       "initialize_model_on_cpu": false
             *     }
             */
            readonly deepspeed: components["schemas"]["DeepSpeedSpec"];
            /**
             * @default {
             *       "compilation": "auto",
             *       "attention": "auto",
             *       "context_parallel": "auto"
             *     }
             */
            readonly performance: components["schemas"]["PerformanceSpec"];
            /**
             * @default {
             *       "every_num_batches": 10,
             *       "num_samples_per_prompt": 4,
             *       "prompts": []
             *     }
             */
            readonly evaluation: components["schemas"]["EvaluationSpec"];
            /**
             * @default {
             *       "num_per_batch": 24
             *     }
             */
            readonly stored_samples: components["schemas"]["StoredSamplesSpec"];
            /**
             * @default {
             *       "every_num_batches": 10,
             *       "num_kept": 3
             *     }
             */
            readonly checkpoint: components["schemas"]["CheckpointSpec"];
            /**
             * @default {
             *       "max_mean_error": null,
             *       "max_rms_error": null,
             *       "max_quantile_error": null,
             *       "max_ratio_error": null
             *     }
             */
            readonly replay_gate: components["schemas"]["ReplayGateSpec"];
            /**
             * @description Seed of prompt order, initial noise, stochastic steps and LoRA initialisation. Runs that differ in lanes or in
             *     `pipeline` switches alone train on the same samples at staleness 0. Repeat a result with three seeds before relying
             *     on it: RL runs vary with the seed.
             * @default 0
             */
            readonly seed: number;
            /**
             * @description Length of the run in batches; each batch ends with one new policy version. A few hundred are usual for large
             *     models, with 1 or 2 optimizer steps each; the tiny model of the demo learns in 20.
             * @default 20
             */
            readonly num_batches: number;
            /**
             * @description Attempts that the run has, the first included: when its driver is lost, the next attempt resumes from the newest
             *     checkpoint. Raise it for long runs on nodes that may be taken away.
             * @default 3
             */
            readonly max_attempts: number;
            /**
             * @description Names of the project's mirrors that show this run too, in W&B, MLflow or TensorBoard, beside those that are for
             *     every run. The project's owners make them on the page of projects.
             * @default []
             */
            readonly mirrors: readonly string[];
            /**
             * @description Position in the queue: `high` before `normal` before `low`, older runs first among equals. It has no effect once
             *     the run has its lanes. Use `low` for sweeps, and `high` for work that somebody waits for.
             * @default normal
             */
            readonly priority: components["schemas"]["Priority"];
        };
        /**
         * RunState
         * @description The states of a run.
         * @enum {string}
         */
        readonly RunState: "queued" | "starting" | "running" | "paused" | "stopping" | "completed" | "stopped" | "cancelled" | "failed";
        /**
         * RunSweep
         * @description The sweep that made a run, and the run's place in it.
         */
        readonly RunSweep: {
            readonly id: string;
            readonly name: string;
            /** @description Number of the point, from 1. */
            readonly point: number;
            readonly seed: number;
        };
        readonly RunTable: {
            /** @description Of all runs that match. */
            readonly number: number;
            /** @description In the order of their rows, which they count; none unless grouped. A run of several tags has a row for each. */
            readonly groups: readonly components["schemas"]["RunGroup"][];
            readonly results: readonly components["schemas"]["ListedRun"][];
        };
        readonly RunToCheck: {
            /**
             * Format: uuid
             * @description Run that this one repeats with changes, or is forked from.
             */
            readonly parent?: string | null;
            /** @description Id of a checkpoint of `parent` to begin from (a fork). Default: the base model. */
            readonly checkpoint?: number | null;
            /**
             * Format: uuid
             * @description Project in which the run would be created.
             */
            readonly project: string;
            /** @description A run spec as an object, or as YAML text. */
            readonly spec: unknown;
        };
        readonly RunToMirror: {
            /**
             * Format: uuid
             * @description One of the run's project.
             */
            readonly mirror: string;
            /**
             * @description Write again what is there already, too.
             * @default false
             */
            readonly from_beginning?: boolean;
        };
        /**
         * RungBody
         * @description What a point reported at a rung.
         */
        readonly Rung: {
            readonly num_samples: number;
            /** @description Mean of the objective over the point's seeds. */
            readonly value: number;
            readonly is_pruned: boolean;
            /** @description Why it was pruned; empty where it went on. */
            readonly reason: string;
            /** Format: date-time */
            readonly at: string;
        };
        /** @description A run that holds lanes of a pool. */
        readonly RunningInPool: {
            readonly pool: string;
            /**
             * Format: uuid
             * @description Null for a run of a project that is not yours.
             */
            readonly run_id: string | null;
            readonly run_name: string;
            /** Format: uuid */
            readonly project_id: string | null;
            readonly project_name: string;
            readonly state: components["schemas"]["RunState"];
            readonly num_batches: number | null;
            readonly num_batches_done: number | null;
            /** @description Lanes of the pool, by kind. */
            readonly lanes: {
                readonly [key: string]: number;
            };
            /** Format: date-time */
            readonly since: string;
            /** @description When it is expected to end; null if unknown. */
            readonly ends: components["schemas"]["ForecastTimes"] | null;
            /** @description What the forecast rests on. */
            readonly basis: components["schemas"]["ForecastBasis"];
            /** @description Runs that were ahead of it in the queue when it was started without delaying any of them. */
            readonly num_overtaken: number;
        };
        /** @description One page: A run that holds lanes of a pool. */
        readonly RunningInPoolPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["RunningInPool"][];
        };
        readonly RunsAhead: {
            readonly num_runs: number;
            /** @description Those of projects that are not yours. */
            readonly num_runs_of_others: number;
            readonly num_other_projects: number;
            /** @description Lanes that all of them want, by kind. */
            readonly lanes: {
                readonly [key: string]: number;
            };
        };
        readonly Sample: {
            readonly purpose: components["schemas"]["SamplePurpose"];
            readonly batch: number;
            readonly attempt: number;
            readonly policy_version: number;
            readonly prompt: string;
            readonly prompt_id: string;
            readonly prompt_index: number;
            readonly member: number;
            /** @description A number of up to 64 bits, written as text since JSON numbers have fewer. */
            readonly seed: string;
            /** Format: double */
            readonly reward: number | null;
            readonly rewards: {
                readonly [key: string]: number;
            };
            /** @description Why a reward gave no score, by its key. */
            readonly missing: {
                readonly [key: string]: string;
            };
            /** Format: double */
            readonly advantage: number | null;
            readonly staleness: number;
            readonly lane: string;
            /** @description `image/png`, or `video/webm` for clips. */
            readonly media_type: string;
            /** @description The picture, or a clip's first frame. */
            readonly image_url: string;
            /** @description The clip; null for a picture. */
            readonly clip_url: string | null;
        };
        /**
         * SampleInfo
         * @description One picture or clip in the gallery: of a batch, of an evaluation, or requested by a user.
         */
        readonly SampleInfo: {
            /** @description The prompt's text. */
            readonly prompt: string;
            /** @description The prompt's id, by which samples of other runs can be compared with this one. */
            readonly prompt_id: string;
            readonly prompt_index: number;
            readonly member: number;
            readonly seed: number;
            /** @description Artifact path below the run, as it was uploaded. Its ending tells a picture from a clip. */
            readonly artifact: string;
            /**
             * @description Artifact path of the still picture that is shown until a clip plays; empty for pictures.
             * @default
             */
            readonly poster: string | "";
            readonly rewards: {
                readonly [key: string]: number;
            };
            /**
             * @description Why a reward gave no score, by the reward's key.
             * @default {}
             */
            readonly missing: {
                readonly [key: string]: string;
            };
            /** @description Weighted sum of the trained rewards; `None` for a requested sample whose prompt a trained reward cannot score. */
            readonly reward: number | null;
            /** @default null */
            readonly advantage: number | null;
            /** @default 0 */
            readonly staleness: number;
            /** @default  */
            readonly lane: string;
        };
        /** @enum {string} */
        readonly SamplePurpose: "train" | "evaluate" | "request";
        /** Sampler */
        readonly Sampler: {
            /**
             * @description `grid` takes every combination. `random` draws points by Optuna's `RandomSampler`, which finds good values of a
             *     few settings that matter among several that do not sooner than a grid.
             * @default grid
             */
            readonly kind: components["schemas"]["SamplerKind"];
            /**
             * @description How many points are drawn; of a random sampler alone.
             * @default null
             */
            readonly num_points: number | null;
            /**
             * @description Of the draws: the same seed draws the same points.
             * @default 0
             */
            readonly seed: number;
        };
        /**
         * SamplerKind
         * @enum {string}
         */
        readonly SamplerKind: "grid" | "random";
        readonly Samples: {
            /** @description Batches that have pictures. */
            readonly batches: readonly number[];
            /** @description The groups of a training batch, whole: its pictures may be of some members only. */
            readonly groups: readonly components["schemas"]["GroupOfBatch"][];
            readonly results: readonly components["schemas"]["Sample"][];
        };
        /**
         * SamplesEvent
         * @description Samples for the gallery: of a batch (`train`), of an evaluation, or of a user's request.
         */
        readonly SamplesEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "samples";
            /** @enum {string} */
            readonly purpose: "train" | "evaluate" | "request";
            readonly batch: number;
            readonly policy_version: number;
            readonly samples: readonly components["schemas"]["SampleInfo"][];
        };
        /**
         * SamplesFields
         * @description Samples for the gallery: of a batch (`train`), of an evaluation, or of a user's request.
         */
        readonly SamplesFields: {
            /** @enum {string} */
            readonly purpose: "train" | "evaluate" | "request";
            readonly batch: number;
            readonly policy_version: number;
            readonly samples: readonly components["schemas"]["SampleInfo"][];
        };
        /**
         * SamplesItem
         * @description A `samples` event in the stream.
         */
        readonly SamplesItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "samples";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["SamplesFields"];
        };
        /**
         * SamplingSpec
         * @description How trajectories are generated. The denoising steps `sde_start` … `sde_start + num_sde_steps - 1` are stochastic
         *     and are trained on; the others are deterministic, the final one (to sigma 0) always.
         */
        readonly SamplingSpec: {
            /**
             * @description Denoising steps of a training trajectory; generation time grows in proportion. Usual: 6 (FLUX.1), 10 (SD3.5,
             *     Qwen-Image), 16 to 20 (video). Training works on far fewer steps than good pictures need (Flow-GRPO), so raise it
             *     only when training samples are too rough to be scored.
             * @default 10
             */
            readonly num_denoising_steps: number;
            /**
             * @description Denoising steps of evaluation and of requested samples, which are all deterministic (ODE). Usual is what the
             *     model's pipeline recommends: 28 (FLUX.1), 40 (SD3.5), 50 (Qwen-Image). Lower it for distilled models or faster
             *     evaluations.
             * @default 10
             */
            readonly num_eval_denoising_steps: number;
            /**
             * @description Height of the samples in pixels, a multiple of 8; most hub models need a multiple of 16, which is checked against
             *     the checkpoint. 512 is usual for training. Tokens grow with the area, and memory and time with them.
             * @default 32
             */
            readonly height: number;
            /**
             * @description Width of the samples in pixels, a multiple of 8; most hub models need a multiple of 16, which is checked against
             *     the checkpoint. 512 is usual for training. Tokens grow with the area, and memory and time with them.
             * @default 32
             */
            readonly width: number;
            /**
             * @description Frames of a sample: 1 makes pictures, more make clips with model families for video. Wan and HunyuanVideo take a
             *     multiple of 4 plus 1; usual for training are 33 and 53. Memory and time grow at least in proportion.
             * @default 1
             */
            readonly num_frames: number;
            /**
             * @description Frames per second at which clips are stored and played. It changes neither generation nor rewards. Take the rate
             *     that the model was trained on: 16 for Wan2.1, 24 for Wan2.2 TI2V-5B.
             * @default 16
             */
            readonly fps: number;
            /**
             * @description Guidance scale of rollout and evaluation; 1 means no guidance. FLUX and HunyuanVideo take it as an input of the
             *     model (3.5 for FLUX.1), the others compute it from two predictions (true CFG, usual 4 to 4.5), which doubles the
             *     forward passes. 1 is worth trying with true CFG: training then learns what guidance did, and Flow-GRPO's authors
             *     advise it.
             * @default 1
             */
            readonly guidance_scale: number;
            /**
             * @description Guidance scale of the expert for low noise, in models that have two experts (Wan2.2 A14B). Empty:
             *     `guidance_scale` holds for both. Wan's own pipeline uses 3 here beside 4 for the expert for high noise.
             * @default null
             */
            readonly guidance_scale_2: number | null;
            /**
             * @description Guidance scale of the policy that is trained, for both experts where there are two. Empty: the same as in
             *     rollout, which keeps training on-policy. 1 draws trajectories with `guidance_scale` and trains the model to do as
             *     well without guidance, which spares half of the training passes under true CFG.
             * @default null
             */
            readonly train_guidance_scale: number | null;
            /**
             * @description Prompt that true CFG steers away from, the same for all samples. Empty is usual in training. It has an effect
             *     only with a guidance scale above 1.
             * @default
             */
            readonly negative_prompt: string;
            /**
             * @description Tokens of the text encoder after which a prompt is cut off: T5's, or the language model's. Empty: what the
             *     family's pipeline takes (512; 256 for Stable Diffusion 3, FLUX.1-schnell and HunyuanVideo), which is also the most,
             *     but for Stable Diffusion 3 (512) and Qwen-Image (1024). Most families pad every prompt to it, so that a lower number
             *     saves time and memory in each pass; the model was trained with the usual one.
             * @default null
             */
            readonly max_sequence_length: number | null;
            /**
             * @description Compute both predictions of true CFG in one forward pass of twice the batch. Faster where a batch leaves the GPU
             *     underused, at the price of activation memory; leave it off when memory is short.
             * @default false
             */
            readonly batched_cfg: boolean;
            /**
             * @description Whether the autoencoder decodes in tiles, wherever samples are decoded: in training, evaluation and previews.
             *     `auto` is usual; `enabled` is for samples whose decoding takes more memory than the policy, as clips of Wan of 720
             *     rows do. Tiles overlap and are blended, so pixels differ a little from those of whole samples: rewards see them, and
             *     runs with and without it are not to be compared closely. Samples no larger than a tile are not divided (1024 × 1024
             *     for most picture models, 256 × 256 for Qwen-Image, Wan and HunyuanVideo).
             * @default auto
             */
            readonly vae_tiling: components["schemas"]["VaeTiling"];
            /**
             * @description Formula of the stochastic denoising steps. `flow` is Flow-GRPO's SDE; `dance` is DanceGRPO's, with the same noise
             *     strength at every step; `cps` replaces noise instead of adding to it, so samples stay cleaner (arXiv 2509.05952).
             *     Clip ranges are not comparable between them.
             * @default flow
             */
            readonly sde_type: components["schemas"]["SdeType"];
            /**
             * @description Strength of the noise that a stochastic denoising step adds, without unit; it is what makes the trajectories of a
             *     group differ. Usual: 0.7 (SD3.5), 0.9 (FLUX.1), 1.2 (Qwen-Image), 0.25 to 0.3 for `dance`, 0.8 for `cps` (at most
             *     1). Raise it when the rewards within groups are nearly equal; lower it when training samples look grainy.
             * @default 0.7
             */
            readonly noise_level: number;
            /**
             * @description Index of the first stochastic denoising step, counted from 0, the noisiest. 0 is usual: early steps decide the
             *     composition, which is where exploration pays.
             * @default 0
             */
            readonly sde_start: number;
            /**
             * @description Number of stochastic denoising steps from `sde_start` on; only these are trained on, so training time grows in
             *     proportion. Empty: all but the final step, which is always deterministic. Algorithms with a window or a share of
             *     steps choose theirs among these.
             * @default null
             */
            readonly num_sde_steps: number | null;
            /**
             * @description Who computes the log-probs that the ratio of new to old likelihood divides by. `rollout` is exact in fp32 and
             *     costs nothing. In bf16 generation and training round differently, by more than the clip ranges of `grpo_guard` and
             *     of `cps`: `trainer` recomputes them with the weights before the batch's first update. That is free in the first
             *     mini-batch and one forward pass for each pair of the others in the first epoch (`grpo_guard` and `flow_dppo`: in
             *     every optimizer step but the first). The run log says when rounding clips pairs.
             * @default rollout
             */
            readonly old_log_probs: components["schemas"]["OldLogProbs"];
        };
        /**
         * SavedCheckpoint
         * @description A resumable checkpoint.
         */
        readonly SavedCheckpoint: {
            readonly id: number;
            readonly attempt: number;
            /** @description Complete batches. */
            readonly batch: number;
            readonly policy_version: number;
            readonly optimizer_step: number;
            readonly uri: string;
            readonly num_bytes: number;
            /** @description Unix seconds. */
            readonly created_at: number;
            /**
             * @description Whether its files are still there: a driver keeps the newest few, and those that runs were forked from. Null
             *     where the checkpoint store does not answer.
             */
            readonly is_kept: boolean | null;
            /** @description Mean training reward of the batch that it was written after. */
            readonly training_reward: number | null;
            /** @description Held-out reward of its weights; null where they were not evaluated. */
            readonly held_out_reward: number | null;
        };
        readonly SavedView: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly query: {
                readonly [key: string]: unknown;
            };
            readonly columns: readonly string[];
            readonly is_dense: boolean;
            /**
             * Format: uuid
             * @description Null for a view of your own.
             */
            readonly project: string | null;
            /** @default  */
            readonly project_name: string;
            readonly saved_by: string;
        };
        /** @description One page: SavedViewBody */
        readonly SavedViewPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["SavedView"][];
        };
        /**
         * SdeType
         * @description The stochastic denoising kernels of `worker.engine.rollout.sde`.
         * @enum {string}
         */
        readonly SdeType: "flow" | "cps" | "dance";
        /**
         * SecondsRange
         * @description What the counted batches may take on a device, within the range of what its profile assumes.
         */
        readonly SecondsRange: {
            readonly least: number;
            readonly most: number;
        };
        /** @description A secret without its value, which is never shown. */
        readonly Secret: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            /** Format: uuid */
            readonly project: string;
            readonly host: string;
            /** Format: date-time */
            readonly created_at: string;
        };
        readonly SecretPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Secret"][];
        };
        readonly SecretRotation: {
            /**
             * @description For how long the secret before signs too. 0: it ends at once.
             * @default 24
             */
            readonly overlap_hours?: number;
        };
        /**
         * Series
         * @description One curve as columns of one length.
         */
        readonly Series: {
            readonly batch: readonly number[];
            readonly optimizer_step: readonly number[];
            /** @description Unix times of the points, in seconds. */
            readonly at: readonly number[];
            readonly value: readonly number[];
            /** @description Smallest value behind the point; the value itself for an exact point. */
            readonly min: readonly number[];
            readonly max: readonly number[];
        };
        /** @description An account that has tokens and never signs in. */
        readonly ServiceAccount: {
            readonly id: number;
            /** @description `<name>@<slug of the project>`, or `<name>@pool`. */
            readonly name: string;
            /**
             * Format: uuid
             * @description Null for one of the pool.
             */
            readonly project: string | null;
            /** @description Its role in the project; null for one of the pool, which does what pool admins do. */
            readonly role: components["schemas"]["ProjectRole"] | components["schemas"]["NullEnum"];
            readonly is_active: boolean;
            /** Format: date-time */
            readonly created_at: string;
            readonly num_tokens: number;
            /**
             * Format: date-time
             * @description The last use of any of its tokens.
             */
            readonly last_used_at: string | null;
        };
        readonly ServiceAccountPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["ServiceAccount"][];
        };
        /** @description What one run has of one kind, past its days. */
        readonly SharePastDays: {
            readonly kind: components["schemas"]["RetentionKind"];
            /** Format: uuid */
            readonly run_id: string;
            readonly run_name: string;
            readonly project_name: string;
            /** Format: date-time */
            readonly ended_at: string;
            readonly num_rows: number;
            readonly num_files: number;
            readonly num_bytes: number;
        };
        readonly ShareToSet: {
            /**
             * @description Lanes that the project gets first.
             * @default 0
             */
            readonly guaranteed_lanes?: number;
            /** @description The most that it may hold; 0 keeps the project out of the pool. */
            readonly max_lanes?: number | null;
            /**
             * Format: double
             * @description Its part, beside others', of lanes nobody is guaranteed.
             * @default 1
             */
            readonly weight?: number;
        };
        readonly ShareToTry: {
            /**
             * @description Lanes that the project gets first.
             * @default 0
             */
            readonly guaranteed_lanes?: number;
            /** @description The most that it may hold; 0 keeps the project out of the pool. */
            readonly max_lanes?: number | null;
            /**
             * Format: double
             * @description Its part, beside others', of lanes nobody is guaranteed.
             * @default 1
             */
            readonly weight?: number;
            /** Format: uuid */
            readonly project: string;
        };
        readonly SharesToTry: {
            /** @default default */
            readonly pool?: string;
            readonly shares: readonly components["schemas"]["ShareToTry"][];
            /**
             * Format: double
             * @description As if use were forgiven as fast; empty: as it is.
             */
            readonly half_life_hours?: number | null;
        };
        /**
         * SlowLanesEvent
         * @description The lanes that are far slower than usual for their kind, as a run that re-plans has measured them; a later event
         *     replaces it. Usual for a lane alone of its kind is what it took at first.
         */
        readonly SlowLanesEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "slow_lanes";
            /** @description Complete batches in which it was measured. */
            readonly batch: number;
            /** @description By lane: its seconds ÷ those of its kind, over what it generates and trains. Empty: none is slow any more. */
            readonly lanes: {
                readonly [key: string]: number;
            };
        };
        /**
         * SlowLanesFields
         * @description The lanes that are far slower than usual for their kind, as a run that re-plans has measured them; a later event
         *     replaces it. Usual for a lane alone of its kind is what it took at first.
         */
        readonly SlowLanesFields: {
            /** @description Complete batches in which it was measured. */
            readonly batch: number;
            /** @description By lane: its seconds ÷ those of its kind, over what it generates and trains. Empty: none is slow any more. */
            readonly lanes: {
                readonly [key: string]: number;
            };
        };
        /**
         * SlowLanesItem
         * @description A `slow_lanes` event in the stream.
         */
        readonly SlowLanesItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "slow_lanes";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["SlowLanesFields"];
        };
        /**
         * SnapshotFrame
         * @description The first data for a client that gave no number or is too far behind; it must discard what it has.
         */
        readonly SnapshotFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly kind: "snapshot";
            /** @description The snapshot includes everything up to this number; the items that follow are above it. */
            readonly stream_seq: number;
            readonly run: components["schemas"]["Run"];
            /** @description The lanes of the newest `lanes` event. */
            readonly lanes: readonly components["schemas"]["LaneInfo"][];
        };
        /**
         * SoftwareEvent
         * @description The software that an attempt's driver runs with.
         */
        readonly SoftwareEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "software";
            /** @description The version of Tandem, of Python and of each package that may change what a run computes, by name. */
            readonly versions: {
                readonly [key: string]: string;
            };
        };
        /**
         * SoftwareFields
         * @description The software that an attempt's driver runs with.
         */
        readonly SoftwareFields: {
            /** @description The version of Tandem, of Python and of each package that may change what a run computes, by name. */
            readonly versions: {
                readonly [key: string]: string;
            };
        };
        /**
         * SoftwareItem
         * @description A `software` event in the stream.
         */
        readonly SoftwareItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "software";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["SoftwareFields"];
        };
        /**
         * Span
         * @description A half-open stretch `[start, end)` of one lane's time, in seconds of the driver's clock (Unix time).
         */
        readonly Span: {
            readonly lane: string;
            /**
             * @description The lane's rank in the trainer gang; null for rollout and reward lanes.
             * @default null
             */
            readonly rank: number | null;
            readonly kind: components["schemas"]["SpanKind"];
            readonly start: number;
            readonly end: number;
            /**
             * @description Why the lane had nothing to do; given exactly for idle spans.
             * @default null
             */
            readonly cause: components["schemas"]["IdleCause"] | null;
            /** @default null */
            readonly batch: number | null;
            /** @default null */
            readonly group: number | null;
            /**
             * @description Index of the fragment within its group.
             * @default null
             */
            readonly fragment: number | null;
            /** @default null */
            readonly policy_version: number | null;
            /**
             * @description Number of trajectories that were generated or scored; 0 for training, which is divided by micro-batches.
             * @default 0
             */
            readonly num_samples: number;
            /**
             * @description Number of units that this lane did, as its costs count them: trajectories generated, images or clips decoded or
             *     scored, passes of training (micro-batches, and passes of weight 0 beside them); 0 for work whose cost has no
             *     unit.
             * @default 0
             */
            readonly num_units: number;
            /**
             * @description Id of the run that the lane worked for; null while it idled or paused, and in simulations.
             * @default null
             */
            readonly for_run: string | null;
        };
        /**
         * SpanKind
         * @enum {string}
         */
        readonly SpanKind: "generate" | "lent_generate" | "decode" | "encode" | "score" | "train" | "publish" | "pull" | "switch" | "evaluate" | "checkpoint" | "pause" | "idle";
        /**
         * SpansEvent
         * @description Finished spans of any lanes.
         */
        readonly SpansEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "spans";
            readonly spans: readonly components["schemas"]["Span"][];
        };
        /**
         * SpansFields
         * @description Finished spans of any lanes.
         */
        readonly SpansFields: {
            readonly spans: readonly components["schemas"]["Span"][];
        };
        /**
         * SpansItem
         * @description A `spans` event in the stream.
         */
        readonly SpansItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "spans";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["SpansFields"];
        };
        /** Sparklines */
        readonly Sparklines: {
            /** @description The metric's values by the run's id. Runs that have not reported it, and those of others, are left out. */
            readonly series: {
                readonly [key: string]: readonly number[];
            };
        };
        readonly SpecToPlan: {
            /** @description A run spec as an object, or as YAML text. */
            readonly spec: unknown;
        };
        readonly SpecToValidate: {
            /**
             * Format: uuid
             * @description Run that this one repeats with changes, or is forked from.
             */
            readonly parent?: string | null;
            /** @description Id of a checkpoint of `parent` to begin from (a fork). Default: the base model. */
            readonly checkpoint?: number | null;
            readonly spec?: unknown;
            readonly yaml?: string;
            /**
             * Format: uuid
             * @description Project whose uploaded prompt sets the spec may name.
             */
            readonly project?: string;
        };
        /**
         * SplitPoint
         * @description The throughput of one mode at one number of trainer lanes.
         */
        readonly SplitPoint: {
            readonly num_trainer: number;
            readonly samples_per_second: number;
            /**
             * @description Whether it was simulated; otherwise `samples_per_second` is an upper limit, or in pools too large to simulate an
             *     estimate.
             */
            readonly is_simulated: boolean;
        };
        /**
         * StaleClip
         * @description The policy that the ratio of stale samples is clipped around (or masked by its divergence from).
         * @enum {string}
         */
        readonly StaleClip: "proximal" | "behaviour";
        /**
         * StalenessColumn
         * @description The trajectories of one batch, or of several neighbours, by their staleness when they were trained on.
         */
        readonly StalenessColumn: {
            readonly first_batch: number;
            readonly last_batch: number;
            /** @description Batches that reported their staleness. */
            readonly num_batches: number;
            /** @description Number of trajectories of all these batches by staleness in policy versions. */
            readonly counts: {
                readonly [key: string]: number;
            };
        };
        /** StalenessColumns */
        readonly StalenessColumns: {
            /** @description Ascending by batch; each but the last covers the same number of batches. */
            readonly columns: readonly components["schemas"]["StalenessColumn"][];
            /** @description Number of the newest item read. */
            readonly stream_seq: number;
        };
        /**
         * StalenessEvent
         * @description Number of samples of a batch by their staleness when they were trained on.
         */
        readonly StalenessEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "staleness";
            readonly batch: number;
            readonly counts: {
                readonly [key: string]: number;
            };
        };
        /**
         * StalenessFields
         * @description Number of samples of a batch by their staleness when they were trained on.
         */
        readonly StalenessFields: {
            readonly batch: number;
            readonly counts: {
                readonly [key: string]: number;
            };
        };
        /**
         * StalenessItem
         * @description A `staleness` event in the stream.
         */
        readonly StalenessItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "staleness";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["StalenessFields"];
        };
        /**
         * StallState
         * @description How a lane that makes no progress is seen.
         * @enum {string}
         */
        readonly StallState: "slow" | "silent" | "hung" | "working";
        readonly StartCheck: {
            readonly name: components["schemas"]["StartCheckName"];
            /** @description `unknown` is what cannot be seen from the server; the text says why. */
            readonly state: components["schemas"]["StartCheckState"];
            /** @description What was found. */
            readonly text: string;
            /** @description What to do, in one sentence; empty where there is nothing to do. */
            readonly remedy: string;
            /** @description The setting to change; empty where no single one is at fault. */
            readonly path: string;
        };
        /** @enum {string} */
        readonly StartCheckName: "spec" | "model" | "rewards" | "prompts" | "memory" | "host_memory" | "store" | "embeddings" | "disk" | "project" | "queue" | "end";
        /** @enum {string} */
        readonly StartCheckState: "fine" | "warning" | "refused" | "unknown";
        readonly StartChecks: {
            /** @description A refused spec has one check alone. */
            readonly checks: readonly components["schemas"]["StartCheck"][];
            /** @description When it would start if created now; null if unknown. */
            readonly starts: components["schemas"]["ForecastTimes"] | null;
            /** @description When it would end; null if unknown. */
            readonly ends: components["schemas"]["ForecastTimes"] | null;
        };
        /**
         * StartStep
         * @description How far a lane's process is on its way to work.
         * @enum {string}
         */
        readonly StartStep: "requested" | "placed" | "loading" | "ready";
        /**
         * StateEvent
         * @description The state that the driver reports. The web applies it if its transition table allows the move.
         */
        readonly StateEvent: {
            readonly seq: number;
            readonly at: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "state";
            readonly state: components["schemas"]["RunState"];
            /**
             * @description For a failure: one sentence with field, value and what to do.
             * @default
             */
            readonly reason: string;
            /**
             * @description For a failure: the traceback or the last log lines.
             * @default
             */
            readonly details: string;
        };
        /**
         * StateFields
         * @description The state that the driver reports. The web applies it if its transition table allows the move.
         */
        readonly StateFields: {
            readonly state: components["schemas"]["RunState"];
            /**
             * @description For a failure: one sentence with field, value and what to do.
             * @default
             */
            readonly reason: string;
            /**
             * @description For a failure: the traceback or the last log lines.
             * @default
             */
            readonly details: string;
        };
        /**
         * StateItem
         * @description A `state` event in the stream.
         */
        readonly StateItem: {
            /** @description The item's number in the run's stream. */
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "state";
            /** @description Unix time in seconds, by the driver's clock. */
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["StateFields"];
        };
        /**
         * StepOutcome
         * @enum {string}
         */
        readonly StepOutcome: "passed" | "failed" | "skipped";
        /**
         * StoredSamplesSpec
         * @description Which samples of a training batch are stored, for the page of samples and for reports. Every sample is scored and
         *     trained on, stored or not.
         */
        readonly StoredSamplesSpec: {
            /**
             * @description Samples of each batch that are stored: the first members of every prompt, as many of each. As many as the batch
             *     has store all members of all prompts; 0 stores none. Pictures are PNG without loss, so each takes up to 3 bytes a
             *     pixel: 0.75 MiB at 512 × 512, 3 MiB at 1024 × 1024, and 24 of these at most 72 MiB a batch. Evaluations store 48
             *     samples, or this many where it is more.
             * @default 24
             */
            readonly num_per_batch: number;
        };
        readonly StreamItem: components["schemas"]["LanesItem"] | components["schemas"]["LaneStartItem"] | components["schemas"]["LaneStallItem"] | components["schemas"]["OutOfMemoryItem"] | components["schemas"]["SlowLanesItem"] | components["schemas"]["LendItem"] | components["schemas"]["PhaseItem"] | components["schemas"]["StateItem"] | components["schemas"]["ResumedItem"] | components["schemas"]["MetricsItem"] | components["schemas"]["SpansItem"] | components["schemas"]["SamplesItem"] | components["schemas"]["EvaluationItem"] | components["schemas"]["StalenessItem"] | components["schemas"]["GroupsItem"] | components["schemas"]["PublishItem"] | components["schemas"]["AdapterItem"] | components["schemas"]["CheckpointItem"] | components["schemas"]["GateItem"] | components["schemas"]["RewardHackingItem"] | components["schemas"]["QueueItem"] | components["schemas"]["CostsItem"] | components["schemas"]["PlanItem"] | components["schemas"]["SoftwareItem"] | components["schemas"]["LogItem"] | components["schemas"]["CommandDoneItem"] | components["schemas"]["TransitionItem"] | components["schemas"]["CommandItem"];
        /**
         * SweepBody
         * @description A sweep in full.
         */
        readonly Sweep: {
            readonly num_points: number;
            readonly num_runs: number;
            readonly num_runs_ended: number;
            readonly num_runs_live: number;
            readonly id: string;
            readonly operation: string;
            readonly name: string;
            readonly project: components["schemas"]["RunProject"];
            readonly created_by: string | null;
            /** Format: date-time */
            readonly created_at: string;
            readonly ended_at: string | null;
            readonly state: components["schemas"]["SweepState"];
            readonly reason: string;
            readonly num_pruned: number;
            readonly best: components["schemas"]["BestPoint"] | null;
            readonly gpu_hours: number;
            readonly budget_gpu_hours: number | null;
            readonly plan: components["schemas"]["SweepPlan"];
            /** @description Id of the run that it was made from. */
            readonly parent: string | null;
            /** @description Random draws that no run could be created from; others were drawn in their place. */
            readonly num_invalid_draws: number;
            /** @description The first of them, with why. */
            readonly invalid_draw: string;
            /** @description Hours of lanes of any kind that its runs held. */
            readonly lane_hours: number;
            readonly points: readonly components["schemas"]["SweptPoint"][];
            readonly best_so_far: readonly components["schemas"]["BestSoFar"][];
        };
        /**
         * SweepPlan
         * @description Everything that a user asks for in a sweep.
         */
        readonly SweepPlan: {
            readonly name: string;
            /** @description The spec of every run, but for what `space` and the seeds change. */
            readonly spec: {
                readonly [key: string]: unknown;
            };
            /** @description The swept settings: a range of values by the dotted path of each. */
            readonly space: {
                readonly [key: string]: components["schemas"]["ChoiceRange"] | components["schemas"]["FloatRange"] | components["schemas"]["IntRange"];
            };
            /**
             * @default {
             *       "kind": "grid",
             *       "num_points": null,
             *       "seed": 0
             *     }
             */
            readonly sampler: components["schemas"]["Sampler"];
            /**
             * @default {
             *       "kind": "none",
             *       "min_samples": null,
             *       "reduction_factor": 3
             *     }
             */
            readonly pruner: components["schemas"]["Pruner"];
            /**
             * @description Runs of each point. Their seeds count up from the spec's `seed`, the same for every point.
             * @default 1
             */
            readonly num_seeds: number;
            /**
             * @description Runs that wait or work at the same time.
             * @default 4
             */
            readonly max_parallel_runs: number;
            /**
             * @description GPU-hours after which no new run starts; those at work go on to their end. Empty: no bound.
             * @default null
             */
            readonly budget_gpu_hours: number | null;
            /**
             * @default {
             *       "metric": "eval/reward",
             *       "maximise": true
             *     }
             */
            readonly objective: components["schemas"]["Objective"];
        };
        /** @description What a sweep would run. */
        readonly SweepPreview: {
            /** @description The plan with every field written out. */
            readonly plan: components["schemas"]["SweepPlan"];
            /** @description The settings of each point. */
            readonly points: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description Of all points with all seeds. */
            readonly num_runs: number;
            /** @description Samples of all runs, if none is pruned. */
            readonly num_samples: number;
            readonly num_invalid_draws: number;
            /** @description The first invalid draw, with why; empty for none. */
            readonly invalid_draw: string;
            /** @description Samples at which the points with most samples are judged. */
            readonly rungs: readonly number[];
        };
        /**
         * SweepState
         * @enum {string}
         */
        readonly SweepState: "running" | "stopping" | "stopped" | "completed";
        readonly SweepToPreview: {
            /**
             * Format: uuid
             * @description Project in which the runs are created.
             */
            readonly project: string;
            /** @description A plan of a sweep (`SweepPlan`) as an object, or as YAML text. */
            readonly sweep: unknown;
        };
        /**
         * SweptPoint
         * @description One combination of settings.
         */
        readonly SweptPoint: {
            readonly number: number;
            /** @description The swept settings by dotted path. */
            readonly values: {
                readonly [key: string]: unknown;
            };
            readonly state: components["schemas"]["PointState"];
            /** @description Mean of its runs' newest values of the objective; null before the first. */
            readonly value: number | null;
            /** @description The least of them: with `greatest` the spread over seeds. */
            readonly least: number | null;
            readonly greatest: number | null;
            /** @description Samples that its runs have trained on, the least of them. */
            readonly num_samples: number;
            readonly gpu_hours: number;
            readonly rungs: readonly components["schemas"]["Rung"][];
            readonly runs: readonly components["schemas"]["SweptRun"][];
        };
        /**
         * SweptRun
         * @description A point with one seed.
         */
        readonly SweptRun: {
            readonly seed: number;
            /** @description Null for a run that waits to be created, could not be, or was deleted since. */
            readonly id: string | null;
            readonly name: string;
            readonly state: components["schemas"]["RunState"] | null;
            /** @description Why no run could be created; empty otherwise. */
            readonly problem: string;
            /** @description The newest value of the objective; null before the first. */
            readonly value: number | null;
            /** @description Samples that it has trained on. */
            readonly num_samples: number;
            readonly gpu_hours: number;
        };
        /** @enum {string} */
        readonly TagEnum: "off" | "greedy" | "search";
        /**
         * Timeline
         * @description A window of a run's lane time. Times are Unix seconds.
         */
        readonly Timeline: {
            /** @description The lanes that were placed. Spans may name others: the driver's own, and lanes that were never placed. */
            readonly lanes: readonly components["schemas"]["LaneInfo"][];
            /** @description Spans in the order of their start. */
            readonly spans: readonly components["schemas"]["TimelineSpan"][];
            /** @description Those in the window, the last one before it, and the first one after it. */
            readonly versions: readonly components["schemas"]["PublishedVersion"][];
            readonly queues: readonly components["schemas"]["QueueDepths"][];
            /** @description Lending decisions, oldest first. */
            readonly lends: readonly components["schemas"]["LendDecision"][];
            /** @description Resizes that ended in the window, oldest first. */
            readonly resizes: readonly components["schemas"]["EndedResize"][];
            /** @description Plans that the run adopted in the window while it worked, oldest first. */
            readonly plans: readonly components["schemas"]["AdoptedPlan"][];
            /** @description Number of the newest item read; the socket sends what follows. */
            readonly stream_seq: number;
            /** @description The server's clock, in Unix seconds. */
            readonly now: number;
        };
        /**
         * TimelineSpan
         * @description A span of the timeline: one that its lane reported, or several short neighbours drawn as one.
         *
         *     In merged ones, `kind` and `cause` are those that took most of the time, counts are sums, and all else is empty.
         */
        readonly TimelineSpan: {
            readonly lane: string;
            /**
             * @description The lane's rank in the trainer gang; null for rollout and reward lanes.
             * @default null
             */
            readonly rank: number | null;
            readonly kind: components["schemas"]["SpanKind"];
            readonly start: number;
            readonly end: number;
            /**
             * @description Why the lane had nothing to do; given exactly for idle spans.
             * @default null
             */
            readonly cause: components["schemas"]["IdleCause"] | null;
            /** @default null */
            readonly batch: number | null;
            /** @default null */
            readonly group: number | null;
            /**
             * @description Index of the fragment within its group.
             * @default null
             */
            readonly fragment: number | null;
            /** @default null */
            readonly policy_version: number | null;
            /**
             * @description Number of trajectories that were generated or scored; 0 for training, which is divided by micro-batches.
             * @default 0
             */
            readonly num_samples: number;
            /**
             * @description Number of units that this lane did, as its costs count them: trajectories generated, images or clips decoded or
             *     scored, passes of training (micro-batches, and passes of weight 0 beside them); 0 for work whose cost has no
             *     unit.
             * @default 0
             */
            readonly num_units: number;
            /**
             * @description Id of the run that the lane worked for; null while it idled or paused, and in simulations.
             * @default null
             */
            readonly for_run: string | null;
            /**
             * @description Number of spans that this one stands for; with 1 it is as its lane reported it.
             * @default 1
             */
            readonly num_spans: number;
        };
        readonly Token: {
            /** @description The token's first characters. */
            readonly id: string;
            readonly name: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at: string | null;
            /**
             * Format: date-time
             * @description To the minute; null for one never used.
             */
            readonly last_used_at: string | null;
            readonly scopes: readonly components["schemas"]["TokenScope"][];
            /** @description Ids of the projects that it is limited to; null for every project of its user. */
            readonly projects: readonly string[] | null;
            /** @description Names of the pools that it is limited to; empty for every pool. */
            readonly pools: readonly string[];
        };
        readonly TokenPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Token"][];
        };
        /** @enum {string} */
        readonly TokenScope: "read" | "run" | "pool" | "admin";
        /**
         * TrainerAssist
         * @description Trainer-assisted generation: whether idle trainer lanes are lent to generation.
         * @enum {string}
         */
        readonly TrainerAssist: "off" | "greedy" | "search";
        /**
         * TrainerChangeSeconds
         * @description What it took to replace the trainer gang, in seconds of the driver's clock; training stood still meanwhile.
         */
        readonly TrainerChangeSeconds: {
            /** @description From the end of the batch until its checkpoint was written and all lanes concerned were free. */
            readonly checkpoint: number;
            /** @description From then until the new processes had loaded the model. */
            readonly start: number;
            /** @description Reading the checkpoint. */
            readonly restore: number;
        };
        readonly Transition: {
            readonly stream_seq: number;
            readonly old: string;
            readonly new: components["schemas"]["RunState"];
            readonly reason: string;
            readonly actor: string;
            readonly attempt: number;
            /** Format: date-time */
            readonly at: string;
            /** @description `X-Request-ID` of the request that led to it, also through a task; empty where there was none. */
            readonly request_id: string;
        };
        /** TransitionFields */
        readonly TransitionFields: {
            /** @description The state before; empty for the run's first. */
            readonly old: components["schemas"]["RunState"] | "";
            readonly new: components["schemas"]["RunState"];
            readonly reason: string;
            /** @description A user's name, or the part of Tandem that changed it. */
            readonly actor: string;
        };
        /**
         * TransitionItem
         * @description A stream item of the web: a change of the run's state.
         */
        readonly TransitionItem: {
            readonly stream_seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "transition";
            readonly at: number;
            readonly attempt: number;
            readonly body: components["schemas"]["TransitionFields"];
        };
        /** @description One page: TransitionBody */
        readonly TransitionPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Transition"][];
        };
        readonly TriedAgain: {
            /** @description Runs that are tried again at once. */
            readonly num_runs: number;
        };
        /**
         * Tuning
         * @description Which weights of a model's transformer are trained.
         * @enum {string}
         */
        readonly Tuning: "lora" | "full";
        /**
         * @description Model families of which some checkpoints have a second transformer, for low noise.
         * @enum {string}
         */
        readonly TwoExpertFamily: "wan22";
        /** @enum {string} */
        readonly UnitEnum: "cost" | "gpu_hours";
        /** @description What one project, user, card, … used inside the window. */
        readonly UsageRow: {
            /** @description Id of what was summed over; empty where it was deleted. */
            readonly key: string;
            readonly name: string;
            /**
             * Format: double
             * @description Hours of all lanes, CPU lanes too.
             */
            readonly lane_hours: number;
            /** Format: double */
            readonly gpu_hours: number;
            /**
             * Format: decimal
             * @description At the prices that the GPUs had when they were allocated; null where none had one.
             */
            readonly cost: string | null;
            readonly num_runs: number;
            /**
             * Format: double
             * @description GPU hours without a price, which the cost leaves out.
             */
            readonly unpriced_gpu_hours: number;
        };
        /** @description One page: What one project, user, card, … used inside the window. */
        readonly UsageRowPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["UsageRow"][];
        };
        /**
         * VaeTiling
         * @description Whether the autoencoder decodes samples in tiles (diffusers' VAE tiling).
         * @enum {string}
         */
        readonly VaeTiling: "auto" | "enabled" | "disabled";
        readonly Validation: {
            readonly ok: boolean;
            /** @description Messages by dotted field path. */
            readonly errors: {
                readonly [key: string]: readonly string[];
            };
            /** @description Lines of the YAML that was sent on which the errors' fields stand. */
            readonly lines: {
                readonly [key: string]: number;
            };
            /** @description What was refused, as it was read; null for a valid spec, and for YAML that is no mapping. */
            readonly document: {
                readonly [key: string]: unknown;
            } | null;
            readonly algebra: components["schemas"]["BatchAlgebra"] | null;
            readonly algebra_text: string | null;
            /** @description Why a valid spec may still fail, such as too little memory. */
            readonly warnings: readonly string[];
            /** @description The spec with every field written out. */
            readonly spec: components["schemas"]["RunSpec"] | null;
            readonly yaml: string | null;
        };
        /**
         * Vendor
         * @enum {string}
         */
        readonly Vendor: "nvidia" | "amd" | "ascend";
        /**
         * @description Rewards that are 1 for a right sample and 0 for a wrong one, so that their mean is a share.
         * @enum {string}
         */
        readonly VerdictReward: "shape_judge";
        /** @description What a view keeps of `TableQuery`: everything but the stretch. Only what is sent is kept. */
        readonly ViewQuery: {
            /** Format: uuid */
            readonly project?: string;
            /** @description One state or several, separated by commas: queued, starting, running, paused, stopping, completed, stopped, cancelled, failed. */
            readonly state?: string;
            readonly tag?: string;
            /**
             * @description Whether to list only the runs that you created.
             * @default false
             */
            readonly mine?: boolean;
            /** @description Only runs that ended within so many days. */
            readonly ended_days?: number;
            /**
             * @description Whether to list only the archived runs. Default: only the others.
             * @default false
             */
            readonly archived?: boolean;
            /** @description Words of the name, the notes or a tag. */
            readonly search?: string;
            readonly order?: components["schemas"]["OrderEnum"];
            readonly descending?: boolean;
            readonly group?: components["schemas"]["ViewQueryGroupEnum"];
        };
        /** @enum {string} */
        readonly ViewQueryGroupEnum: "project" | "state" | "tag" | "user" | "pool" | "model" | "preset" | "algorithm";
        readonly ViewToSave: {
            readonly name: string;
            /** @description What the view shows: parameters of `GET /runs:table`; `state` as a list by commas. */
            readonly query: components["schemas"]["ViewQuery"];
            /** @description Columns in view; empty: the usual ones. */
            readonly columns?: readonly string[];
            /** @default false */
            readonly is_dense?: boolean;
            /**
             * Format: uuid
             * @description Share it with the members of this project. Default: with nobody.
             */
            readonly project?: string | null;
        };
        /** @description A webhook without its secret, which is shown once. */
        readonly Webhook: {
            /** Format: uuid */
            readonly id: string;
            /**
             * Format: uuid
             * @description Null for the pool's.
             */
            readonly project: string | null;
            readonly name: string;
            /** @description `standard` is signed JSON, as standardwebhooks.com describes. */
            readonly form: components["schemas"]["MessageForm"];
            /** @description A URL, or an e-mail address for `email`. */
            readonly address: string;
            readonly events: readonly components["schemas"]["HookEvent"][];
            readonly is_active: boolean;
            /** @description Why it was switched off by itself; empty where a user did it. */
            readonly off_reason: string;
            /**
             * Format: date-time
             * @description Since when nothing has got through; null where the last try did.
             */
            readonly failing_since: string | null;
            /**
             * Format: date-time
             * @description Until when the secret before the last rotation signs too; null where it does not.
             */
            readonly former_secret_until: string | null;
            /** Format: date-time */
            readonly created_at: string;
        };
        readonly WebhookPage: {
            /** Format: uri */
            readonly next: string | null;
            readonly results: readonly components["schemas"]["Webhook"][];
        };
        /** @enum {string} */
        readonly WhenSpentEnum: "warn" | "hold" | "stop";
        /**
         * WorkCost
         * @description The cost of one kind of work on a lane: seconds = `per_call` + units × `per_unit`.
         */
        readonly WorkCost: {
            /** @description A lane's id, or `gang` for all trainer lanes together; of a plan or of earlier runs, a kind of device. */
            readonly lane: string;
            /** @description The kind of work, one of those that `worker.scheduling.core.costs` defines with their units. */
            readonly kind: string;
            /** @description Seconds of a call, whatever its size. */
            readonly per_call: number;
            /** @description Seconds of each unit of a call. */
            readonly per_unit: number;
            /**
             * @description The fewest and the most units of one call that were measured. If both are equal, only the sum for that size is
             *     known, not how it divides into `per_call` and `per_unit`. Empty: the cost is an estimate.
             * @default null
             */
            readonly observed_units: readonly [
                number,
                number
            ] | null;
            /**
             * @description The standard error of the measured seconds of a unit ÷ their mean; empty where too few were measured to tell.
             * @default null
             */
            readonly relative_error: number | null;
            /**
             * @description How many times as long as at first the lane takes, where it turned slow while it was measured.
             * @default 1
             */
            readonly slowdown: number;
        };
        /**
         * WorkSeconds
         * @description What a unit of one kind of work takes on one lane.
         */
        readonly WorkSeconds: {
            /** @description `gang` for all trainer lanes together, where they train in step (ZeRO 2 and 3). */
            readonly lane: string;
            /**
             * @description `generate`: a trajectory, decoding included. `accumulate`: a micro-batch. `score`: an image or clip.
             * @enum {string}
             */
            readonly work: "generate" | "accumulate" | "score";
            /** @description Of a unit, in a call of `num_units`. */
            readonly seconds: number;
            /** @description Units of a call that all lanes are compared at: the median of the most that each was measured at. */
            readonly num_units: number;
            /** @description Standard error of the measured seconds of a unit ÷ their mean; null where too few were measured to tell. */
            readonly relative_error: number | null;
            /**
             * @description Its seconds ÷ the median of its peers', the lanes with the same device at the same work, itself among them; null
             *     where fewer than three were measured well enough.
             */
            readonly times_peers: number | null;
            /** @description Number of lanes that it was compared with, itself among them; 0 where it was not. */
            readonly num_peers: number;
            /** @description Whether it is slower than its peers by more than healthy cards of one model differ, and than chance explains. */
            readonly is_slow: boolean;
        };
        /**
         * ZeroConfig
         * @description Named DeepSpeed configurations: the JSON files of these names.
         * @enum {string}
         */
        readonly ZeroConfig: "zero0" | "zero1" | "zero1_cpuoffload" | "zero2" | "zero2_cpuoffload" | "zero3" | "zero3_optimizer_cpuoffload" | "zero3_cpuoffload";
    };
    responses: {
        /** @description A refusal. */
        readonly Refusal: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Account = components['schemas']['Account'];
export type AccountPage = components['schemas']['AccountPage'];
export type ActionAnswer = components['schemas']['ActionAnswer'];
export type ActionKind = components['schemas']['ActionKind'];
export type ActionRequest = components['schemas']['ActionRequest'];
export type Adapter = components['schemas']['Adapter'];
export type AdapterEvent = components['schemas']['AdapterEvent'];
export type AdapterFields = components['schemas']['AdapterFields'];
export type AdapterFile = components['schemas']['AdapterFile'];
export type AdapterItem = components['schemas']['AdapterItem'];
export type AdapterPage = components['schemas']['AdapterPage'];
export type AddedLanes = components['schemas']['AddedLanes'];
export type AdoptedPlan = components['schemas']['AdoptedPlan'];
export type AestheticSettings = components['schemas']['AestheticSettings'];
export type AlternativeChange = components['schemas']['AlternativeChange'];
export type AlternativeLanes = components['schemas']['AlternativeLanes'];
export type AlternativeLanesPage = components['schemas']['AlternativeLanesPage'];
export type AskedDeletion = components['schemas']['AskedDeletion'];
export type Attempt = components['schemas']['Attempt'];
export type AttemptPage = components['schemas']['AttemptPage'];
export type AttentionBackend = components['schemas']['AttentionBackend'];
export type AuditRow = components['schemas']['AuditRow'];
export type AuditRowPage = components['schemas']['AuditRowPage'];
export type BaseModel = components['schemas']['BaseModel'];
export type BaseModelPage = components['schemas']['BaseModelPage'];
export type BaseModelSpec = components['schemas']['BaseModelSpec'];
export type BatchAlgebra = components['schemas']['BatchAlgebra'];
export type BatchSpec = components['schemas']['BatchSpec'];
export type BestPoint = components['schemas']['BestPoint'];
export type BestSoFar = components['schemas']['BestSoFar'];
export type Bubbles = components['schemas']['Bubbles'];
export type Budget = components['schemas']['Budget'];
export type BudgetPage = components['schemas']['BudgetPage'];
export type BudgetToSet = components['schemas']['BudgetToSet'];
export type BulkAnswer = components['schemas']['BulkAnswer'];
export type BulkItemType = components['schemas']['BulkItemType'];
export type BulkRequest = components['schemas']['BulkRequest'];
export type BulkRequestActionEnum = components['schemas']['BulkRequestActionEnum'];
export type CardFigures = components['schemas']['CardFigures'];
export type CarriedSetting = components['schemas']['CarriedSetting'];
export type CategoryEnum = components['schemas']['CategoryEnum'];
export type ChangedLane = components['schemas']['ChangedLane'];
export type CheckpointEvent = components['schemas']['CheckpointEvent'];
export type CheckpointFields = components['schemas']['CheckpointFields'];
export type CheckpointItem = components['schemas']['CheckpointItem'];
export type CheckpointSpec = components['schemas']['CheckpointSpec'];
export type ChoiceRange = components['schemas']['ChoiceRange'];
export type ClipScoreSettings = components['schemas']['ClipScoreSettings'];
export type Command = components['schemas']['Command'];
export type CommandDoneEvent = components['schemas']['CommandDoneEvent'];
export type CommandDoneFields = components['schemas']['CommandDoneFields'];
export type CommandDoneItem = components['schemas']['CommandDoneItem'];
export type CommandFields = components['schemas']['CommandFields'];
export type CommandItem = components['schemas']['CommandItem'];
export type CommandKind = components['schemas']['CommandKind'];
export type CommandPage = components['schemas']['CommandPage'];
export type Compilation = components['schemas']['Compilation'];
export type ConfigurationToImport = components['schemas']['ConfigurationToImport'];
export type ContextParallel = components['schemas']['ContextParallel'];
export type CostsEvent = components['schemas']['CostsEvent'];
export type CostsFields = components['schemas']['CostsFields'];
export type CostsItem = components['schemas']['CostsItem'];
export type CreatedToken = components['schemas']['CreatedToken'];
export type CreatedWebhook = components['schemas']['CreatedWebhook'];
export type Curves = components['schemas']['Curves'];
export type DailyUsage = components['schemas']['DailyUsage'];
export type DailyUsageRow = components['schemas']['DailyUsageRow'];
export type DanceGrpoSpec = components['schemas']['DanceGrpoSpec'];
export type DatabaseCircuit = components['schemas']['DatabaseCircuit'];
export type DeepSpeedSpec = components['schemas']['DeepSpeedSpec'];
export type DeletionPreview = components['schemas']['DeletionPreview'];
export type DeletionRequest = components['schemas']['DeletionRequest'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryPage = components['schemas']['DeliveryPage'];
export type DeliveryState = components['schemas']['DeliveryState'];
export type DeliveryTry = components['schemas']['DeliveryTry'];
export type DeviceEnum = components['schemas']['DeviceEnum'];
export type DiffusionDpoSpec = components['schemas']['DiffusionDpoSpec'];
export type DiffusionNftSpec = components['schemas']['DiffusionNftSpec'];
export type DownloadableFile = components['schemas']['DownloadableFile'];
export type DuplicateRequest = components['schemas']['DuplicateRequest'];
export type ElasticSpec = components['schemas']['ElasticSpec'];
export type EmaSpec = components['schemas']['EmaSpec'];
export type EndState = components['schemas']['EndState'];
export type EndedResize = components['schemas']['EndedResize'];
export type EvaluationEvent = components['schemas']['EvaluationEvent'];
export type EvaluationFields = components['schemas']['EvaluationFields'];
export type EvaluationItem = components['schemas']['EvaluationItem'];
export type EvaluationSpec = components['schemas']['EvaluationSpec'];
export type Failure = components['schemas']['Failure'];
export type FloatRange = components['schemas']['FloatRange'];
export type FlowDppoSpec = components['schemas']['FlowDppoSpec'];
export type FlowGrpoFastSpec = components['schemas']['FlowGrpoFastSpec'];
export type FlowGrpoSpec = components['schemas']['FlowGrpoSpec'];
export type ForecastBasis = components['schemas']['ForecastBasis'];
export type ForecastTimes = components['schemas']['ForecastTimes'];
export type Fragment = components['schemas']['Fragment'];
export type FragmentStep = components['schemas']['FragmentStep'];
export type FragmentStory = components['schemas']['FragmentStory'];
export type FreeLanes = components['schemas']['FreeLanes'];
export type GateEvent = components['schemas']['GateEvent'];
export type GateFields = components['schemas']['GateFields'];
export type GateItem = components['schemas']['GateItem'];
export type GpuFaults = components['schemas']['GpuFaults'];
export type GpuHealth = components['schemas']['GpuHealth'];
export type GpuHealthPage = components['schemas']['GpuHealthPage'];
export type GpuIdentity = components['schemas']['GpuIdentity'];
export type GpuLive = components['schemas']['GpuLive'];
export type GpuMinutes = components['schemas']['GpuMinutes'];
export type GpuTest = components['schemas']['GpuTest'];
export type GpuTestPage = components['schemas']['GpuTestPage'];
export type GpuTestRequest = components['schemas']['GpuTestRequest'];
export type GpuTestState = components['schemas']['GpuTestState'];
export type GpuTestStep = components['schemas']['GpuTestStep'];
export type GpuTestStepName = components['schemas']['GpuTestStepName'];
export type GpuTopology = components['schemas']['GpuTopology'];
export type GpuUse = components['schemas']['GpuUse'];
export type GpuUsePage = components['schemas']['GpuUsePage'];
export type GpusToTest = components['schemas']['GpusToTest'];
export type GradedPlanStep = components['schemas']['GradedPlanStep'];
export type GroupOfBatch = components['schemas']['GroupOfBatch'];
export type GroupOutcome = components['schemas']['GroupOutcome'];
export type GroupsEvent = components['schemas']['GroupsEvent'];
export type GroupsFields = components['schemas']['GroupsFields'];
export type GroupsItem = components['schemas']['GroupsItem'];
export type GrpoGuardSpec = components['schemas']['GrpoGuardSpec'];
export type Headline = components['schemas']['Headline'];
export type HealthEnum = components['schemas']['HealthEnum'];
export type HeartbeatFrame = components['schemas']['HeartbeatFrame'];
export type HelloFrame = components['schemas']['HelloFrame'];
export type HoldingRun = components['schemas']['HoldingRun'];
export type Home = components['schemas']['Home'];
export type HomeAlert = components['schemas']['HomeAlert'];
export type HomeGroup = components['schemas']['HomeGroup'];
export type HomeGroupGroupEnum = components['schemas']['HomeGroupGroupEnum'];
export type HomeRun = components['schemas']['HomeRun'];
export type HookEvent = components['schemas']['HookEvent'];
export type HpsV2Settings = components['schemas']['HpsV2Settings'];
export type IdleCause = components['schemas']['IdleCause'];
export type ImageRewardSettings = components['schemas']['ImageRewardSettings'];
export type ImportKind = components['schemas']['ImportKind'];
export type ImportedSpec = components['schemas']['ImportedSpec'];
export type Inapplicable = components['schemas']['Inapplicable'];
export type IntRange = components['schemas']['IntRange'];
export type ItemsFrame = components['schemas']['ItemsFrame'];
export type JsonValue = components['schemas']['JsonValue'];
export type KeptKind = components['schemas']['KeptKind'];
export type KindPastDays = components['schemas']['KindPastDays'];
export type LabelsToTry = components['schemas']['LabelsToTry'];
export type LaneAction = components['schemas']['LaneAction'];
export type LaneActionKind = components['schemas']['LaneActionKind'];
export type LaneCount = components['schemas']['LaneCount'];
export type LaneGrant = components['schemas']['LaneGrant'];
export type LaneInfo = components['schemas']['LaneInfo'];
export type LaneKind = components['schemas']['LaneKind'];
export type LaneMove = components['schemas']['LaneMove'];
export type LaneMovePage = components['schemas']['LaneMovePage'];
export type LaneProgress = components['schemas']['LaneProgress'];
export type LaneRole = components['schemas']['LaneRole'];
export type LaneSeconds = components['schemas']['LaneSeconds'];
export type LaneSpec = components['schemas']['LaneSpec'];
export type LaneStallEvent = components['schemas']['LaneStallEvent'];
export type LaneStallFields = components['schemas']['LaneStallFields'];
export type LaneStallItem = components['schemas']['LaneStallItem'];
export type LaneStartEvent = components['schemas']['LaneStartEvent'];
export type LaneStartFields = components['schemas']['LaneStartFields'];
export type LaneStartItem = components['schemas']['LaneStartItem'];
export type LaneStates = components['schemas']['LaneStates'];
export type LaneStep = components['schemas']['LaneStep'];
export type LaneWork = components['schemas']['LaneWork'];
export type LanesEvent = components['schemas']['LanesEvent'];
export type LanesFields = components['schemas']['LanesFields'];
export type LanesItem = components['schemas']['LanesItem'];
export type LanesToAskFor = components['schemas']['LanesToAskFor'];
export type LedgerEntry = components['schemas']['LedgerEntry'];
export type LeftOutSetting = components['schemas']['LeftOutSetting'];
export type Lend = components['schemas']['Lend'];
export type LendDecision = components['schemas']['LendDecision'];
export type LendEvent = components['schemas']['LendEvent'];
export type LendFields = components['schemas']['LendFields'];
export type LendItem = components['schemas']['LendItem'];
export type LendKind = components['schemas']['LendKind'];
export type LendSum = components['schemas']['LendSum'];
export type LenderKind = components['schemas']['LenderKind'];
export type Lending = components['schemas']['Lending'];
export type LendingTotals = components['schemas']['LendingTotals'];
export type Lineage = components['schemas']['Lineage'];
export type LineageRun = components['schemas']['LineageRun'];
export type ListedPromptSet = components['schemas']['ListedPromptSet'];
export type ListedPromptSetPage = components['schemas']['ListedPromptSetPage'];
export type ListedRun = components['schemas']['ListedRun'];
export type ListedSweep = components['schemas']['ListedSweep'];
export type Live = components['schemas']['Live'];
export type LiveValues = components['schemas']['LiveValues'];
export type LogEntry = components['schemas']['LogEntry'];
export type LogError = components['schemas']['LogError'];
export type LogEvent = components['schemas']['LogEvent'];
export type LogFields = components['schemas']['LogFields'];
export type LogItem = components['schemas']['LogItem'];
export type LogLevel = components['schemas']['LogLevel'];
export type LoraSpec = components['schemas']['LoraSpec'];
export type Me = components['schemas']['Me'];
export type Member = components['schemas']['Member'];
export type MemberPage = components['schemas']['MemberPage'];
export type MemoryShortage = components['schemas']['MemoryShortage'];
export type MessageForm = components['schemas']['MessageForm'];
export type Metric = components['schemas']['Metric'];
export type MetricsEvent = components['schemas']['MetricsEvent'];
export type MetricsFields = components['schemas']['MetricsFields'];
export type MetricsItem = components['schemas']['MetricsItem'];
export type MinutesColumn = components['schemas']['MinutesColumn'];
export type Mirror = components['schemas']['Mirror'];
export type MirrorKind = components['schemas']['MirrorKind'];
export type MirrorPage = components['schemas']['MirrorPage'];
export type MirroredRun = components['schemas']['MirroredRun'];
export type MirroringState = components['schemas']['MirroringState'];
export type MixGrpoSpec = components['schemas']['MixGrpoSpec'];
export type ModelFamily = components['schemas']['ModelFamily'];
export type MovedInQueue = components['schemas']['MovedInQueue'];
export type NewMember = components['schemas']['NewMember'];
export type NewMirror = components['schemas']['NewMirror'];
export type NewPool = components['schemas']['NewPool'];
export type NewPreview = components['schemas']['NewPreview'];
export type NewPromptSet = components['schemas']['NewPromptSet'];
export type NewRun = components['schemas']['NewRun'];
export type NewSecret = components['schemas']['NewSecret'];
export type NewServiceAccount = components['schemas']['NewServiceAccount'];
export type NewServiceToken = components['schemas']['NewServiceToken'];
export type NewSweep = components['schemas']['NewSweep'];
export type NewToken = components['schemas']['NewToken'];
export type NewWebhook = components['schemas']['NewWebhook'];
export type NodeAction = components['schemas']['NodeAction'];
export type NullEnum = components['schemas']['NullEnum'];
export type Objective = components['schemas']['Objective'];
export type Occupancy = components['schemas']['Occupancy'];
export type OccupancyArea = components['schemas']['OccupancyArea'];
export type OcrSettings = components['schemas']['OcrSettings'];
export type OfEnum = components['schemas']['OfEnum'];
export type OldLogProbs = components['schemas']['OldLogProbs'];
export type Operation = components['schemas']['Operation'];
export type OperationKind = components['schemas']['OperationKind'];
export type OperationProgress = components['schemas']['OperationProgress'];
export type OperationState = components['schemas']['OperationState'];
export type OperationTarget = components['schemas']['OperationTarget'];
export type OptimizerSpec = components['schemas']['OptimizerSpec'];
export type OrderEnum = components['schemas']['OrderEnum'];
export type OutOfMemoryEvent = components['schemas']['OutOfMemoryEvent'];
export type OutOfMemoryFields = components['schemas']['OutOfMemoryFields'];
export type OutOfMemoryItem = components['schemas']['OutOfMemoryItem'];
export type PatchedAccountRights = components['schemas']['PatchedAccountRights'];
export type PatchedAnnotationsToWrite = components['schemas']['PatchedAnnotationsToWrite'];
export type PatchedMemberRole = components['schemas']['PatchedMemberRole'];
export type PatchedMirrorChanges = components['schemas']['PatchedMirrorChanges'];
export type PatchedNodeToWrite = components['schemas']['PatchedNodeToWrite'];
export type PatchedPoolToChange = components['schemas']['PatchedPoolToChange'];
export type PatchedProjectName = components['schemas']['PatchedProjectName'];
export type PatchedRunChanges = components['schemas']['PatchedRunChanges'];
export type PatchedServiceAccountChanges = components['schemas']['PatchedServiceAccountChanges'];
export type PatchedWebhookChanges = components['schemas']['PatchedWebhookChanges'];
export type PerformanceSpec = components['schemas']['PerformanceSpec'];
export type PeriodEnum = components['schemas']['PeriodEnum'];
export type Phase = components['schemas']['Phase'];
export type PhaseEvent = components['schemas']['PhaseEvent'];
export type PhaseFields = components['schemas']['PhaseFields'];
export type PhaseItem = components['schemas']['PhaseItem'];
export type PickScoreSettings = components['schemas']['PickScoreSettings'];
export type PipelineSpec = components['schemas']['PipelineSpec'];
export type Placement = components['schemas']['Placement'];
export type PlacementEnum = components['schemas']['PlacementEnum'];
export type Plan = components['schemas']['Plan'];
export type PlanChoice = components['schemas']['PlanChoice'];
export type PlanEvent = components['schemas']['PlanEvent'];
export type PlanFields = components['schemas']['PlanFields'];
export type PlanItem = components['schemas']['PlanItem'];
export type PlanPreview = components['schemas']['PlanPreview'];
export type PlanPromise = components['schemas']['PlanPromise'];
export type PlannedBatch = components['schemas']['PlannedBatch'];
export type PlannedScoring = components['schemas']['PlannedScoring'];
export type PlannedSpan = components['schemas']['PlannedSpan'];
export type PlannedTime = components['schemas']['PlannedTime'];
export type PointState = components['schemas']['PointState'];
export type PolicyToSet = components['schemas']['PolicyToSet'];
export type Pool = components['schemas']['Pool'];
export type PoolActionKind = components['schemas']['PoolActionKind'];
export type PoolActions = components['schemas']['PoolActions'];
export type PoolChange = components['schemas']['PoolChange'];
export type PoolChangePage = components['schemas']['PoolChangePage'];
export type PoolChangedFrame = components['schemas']['PoolChangedFrame'];
export type PoolFacts = components['schemas']['PoolFacts'];
export type PoolFrame = components['schemas']['PoolFrame'];
export type PoolGpu = components['schemas']['PoolGpu'];
export type PoolGpuPage = components['schemas']['PoolGpuPage'];
export type PoolLane = components['schemas']['PoolLane'];
export type PoolLanePage = components['schemas']['PoolLanePage'];
export type PoolNode = components['schemas']['PoolNode'];
export type PoolNodePage = components['schemas']['PoolNodePage'];
export type PoolPage = components['schemas']['PoolPage'];
export type PoolPolicy = components['schemas']['PoolPolicy'];
export type PoolShare = components['schemas']['PoolShare'];
export type PoolSharePage = components['schemas']['PoolSharePage'];
export type PoolState = components['schemas']['PoolState'];
export type PoolsToTry = components['schemas']['PoolsToTry'];
export type Preset = components['schemas']['Preset'];
export type PresetPage = components['schemas']['PresetPage'];
export type Preview = components['schemas']['Preview'];
export type PreviewAnswer = components['schemas']['PreviewAnswer'];
export type PreviewImage = components['schemas']['PreviewImage'];
export type PreviewState = components['schemas']['PreviewState'];
export type Priority = components['schemas']['Priority'];
export type PriorityEnum = components['schemas']['PriorityEnum'];
export type Problem = components['schemas']['Problem'];
export type Project = components['schemas']['Project'];
export type ProjectName = components['schemas']['ProjectName'];
export type ProjectPage = components['schemas']['ProjectPage'];
export type ProjectRole = components['schemas']['ProjectRole'];
export type ProjectsFrame = components['schemas']['ProjectsFrame'];
export type Prompt = components['schemas']['Prompt'];
export type PromptAudit = components['schemas']['PromptAudit'];
export type PromptAuditPage = components['schemas']['PromptAuditPage'];
export type PromptSet = components['schemas']['PromptSet'];
export type PromptSpec = components['schemas']['PromptSpec'];
export type PromptTotals = components['schemas']['PromptTotals'];
export type PromptVisit = components['schemas']['PromptVisit'];
export type Pruner = components['schemas']['Pruner'];
export type PrunerKind = components['schemas']['PrunerKind'];
export type PublishEvent = components['schemas']['PublishEvent'];
export type PublishFields = components['schemas']['PublishFields'];
export type PublishItem = components['schemas']['PublishItem'];
export type PublishedVersion = components['schemas']['PublishedVersion'];
export type Publishing = components['schemas']['Publishing'];
export type QueueBlocker = components['schemas']['QueueBlocker'];
export type QueueBlockerKind = components['schemas']['QueueBlockerKind'];
export type QueueDepths = components['schemas']['QueueDepths'];
export type QueueDirection = components['schemas']['QueueDirection'];
export type QueueEvent = components['schemas']['QueueEvent'];
export type QueueFields = components['schemas']['QueueFields'];
export type QueueItem = components['schemas']['QueueItem'];
export type QueueMove = components['schemas']['QueueMove'];
export type QueuedRun = components['schemas']['QueuedRun'];
export type QueuedRunPage = components['schemas']['QueuedRunPage'];
export type Ready = components['schemas']['Ready'];
export type RecordedResize = components['schemas']['RecordedResize'];
export type ReflSpec = components['schemas']['ReflSpec'];
export type Refusal = components['schemas']['Refusal'];
export type RemoteFormat = components['schemas']['RemoteFormat'];
export type RemoteSettings = components['schemas']['RemoteSettings'];
export type Replay = components['schemas']['Replay'];
export type ReplayErrors = components['schemas']['ReplayErrors'];
export type ReplayGateSpec = components['schemas']['ReplayGateSpec'];
export type ReplayRequest = components['schemas']['ReplayRequest'];
export type ReplaySchedule = components['schemas']['ReplaySchedule'];
export type Resize = components['schemas']['Resize'];
export type ResizeAnswer = components['schemas']['ResizeAnswer'];
export type ResizeCause = components['schemas']['ResizeCause'];
export type ResizeReport = components['schemas']['ResizeReport'];
export type ResizeRequest = components['schemas']['ResizeRequest'];
export type ResizeState = components['schemas']['ResizeState'];
export type ResumedEvent = components['schemas']['ResumedEvent'];
export type ResumedFields = components['schemas']['ResumedFields'];
export type ResumedItem = components['schemas']['ResumedItem'];
export type Retention = components['schemas']['Retention'];
export type RetentionKind = components['schemas']['RetentionKind'];
export type RevisedPlan = components['schemas']['RevisedPlan'];
export type Reward = components['schemas']['Reward'];
export type RewardChange = components['schemas']['RewardChange'];
export type RewardDevice = components['schemas']['RewardDevice'];
export type RewardFlowSpec = components['schemas']['RewardFlowSpec'];
export type RewardHackingEvent = components['schemas']['RewardHackingEvent'];
export type RewardHackingFields = components['schemas']['RewardHackingFields'];
export type RewardHackingItem = components['schemas']['RewardHackingItem'];
export type RewardMixing = components['schemas']['RewardMixing'];
export type RewardName = components['schemas']['RewardName'];
export type RewardPage = components['schemas']['RewardPage'];
export type RewardSpec = components['schemas']['RewardSpec'];
export type RewardsOnEnum = components['schemas']['RewardsOnEnum'];
export type RoleChange = components['schemas']['RoleChange'];
export type RoleStates = components['schemas']['RoleStates'];
export type Run = components['schemas']['Run'];
export type RunChangedFrame = components['schemas']['RunChangedFrame'];
export type RunCommand = components['schemas']['RunCommand'];
export type RunEvent = components['schemas']['RunEvent'];
export type RunFrame = components['schemas']['RunFrame'];
export type RunGroup = components['schemas']['RunGroup'];
export type RunLane = components['schemas']['RunLane'];
export type RunPlan = components['schemas']['RunPlan'];
export type RunProject = components['schemas']['RunProject'];
export type RunRow = components['schemas']['RunRow'];
export type RunSize = components['schemas']['RunSize'];
export type RunSpec = components['schemas']['RunSpec'];
export type RunState = components['schemas']['RunState'];
export type RunSweep = components['schemas']['RunSweep'];
export type RunTable = components['schemas']['RunTable'];
export type RunToCheck = components['schemas']['RunToCheck'];
export type RunToMirror = components['schemas']['RunToMirror'];
export type Rung = components['schemas']['Rung'];
export type RunningInPool = components['schemas']['RunningInPool'];
export type RunningInPoolPage = components['schemas']['RunningInPoolPage'];
export type RunsAhead = components['schemas']['RunsAhead'];
export type Sample = components['schemas']['Sample'];
export type SampleInfo = components['schemas']['SampleInfo'];
export type SamplePurpose = components['schemas']['SamplePurpose'];
export type Sampler = components['schemas']['Sampler'];
export type SamplerKind = components['schemas']['SamplerKind'];
export type Samples = components['schemas']['Samples'];
export type SamplesEvent = components['schemas']['SamplesEvent'];
export type SamplesFields = components['schemas']['SamplesFields'];
export type SamplesItem = components['schemas']['SamplesItem'];
export type SamplingSpec = components['schemas']['SamplingSpec'];
export type SavedCheckpoint = components['schemas']['SavedCheckpoint'];
export type SavedView = components['schemas']['SavedView'];
export type SavedViewPage = components['schemas']['SavedViewPage'];
export type SdeType = components['schemas']['SdeType'];
export type SecondsRange = components['schemas']['SecondsRange'];
export type Secret = components['schemas']['Secret'];
export type SecretPage = components['schemas']['SecretPage'];
export type SecretRotation = components['schemas']['SecretRotation'];
export type Series = components['schemas']['Series'];
export type ServiceAccount = components['schemas']['ServiceAccount'];
export type ServiceAccountPage = components['schemas']['ServiceAccountPage'];
export type SharePastDays = components['schemas']['SharePastDays'];
export type ShareToSet = components['schemas']['ShareToSet'];
export type ShareToTry = components['schemas']['ShareToTry'];
export type SharesToTry = components['schemas']['SharesToTry'];
export type SlowLanesEvent = components['schemas']['SlowLanesEvent'];
export type SlowLanesFields = components['schemas']['SlowLanesFields'];
export type SlowLanesItem = components['schemas']['SlowLanesItem'];
export type SnapshotFrame = components['schemas']['SnapshotFrame'];
export type SoftwareEvent = components['schemas']['SoftwareEvent'];
export type SoftwareFields = components['schemas']['SoftwareFields'];
export type SoftwareItem = components['schemas']['SoftwareItem'];
export type Span = components['schemas']['Span'];
export type SpanKind = components['schemas']['SpanKind'];
export type SpansEvent = components['schemas']['SpansEvent'];
export type SpansFields = components['schemas']['SpansFields'];
export type SpansItem = components['schemas']['SpansItem'];
export type Sparklines = components['schemas']['Sparklines'];
export type SpecToPlan = components['schemas']['SpecToPlan'];
export type SpecToValidate = components['schemas']['SpecToValidate'];
export type SplitPoint = components['schemas']['SplitPoint'];
export type StaleClip = components['schemas']['StaleClip'];
export type StalenessColumn = components['schemas']['StalenessColumn'];
export type StalenessColumns = components['schemas']['StalenessColumns'];
export type StalenessEvent = components['schemas']['StalenessEvent'];
export type StalenessFields = components['schemas']['StalenessFields'];
export type StalenessItem = components['schemas']['StalenessItem'];
export type StallState = components['schemas']['StallState'];
export type StartCheck = components['schemas']['StartCheck'];
export type StartCheckName = components['schemas']['StartCheckName'];
export type StartCheckState = components['schemas']['StartCheckState'];
export type StartChecks = components['schemas']['StartChecks'];
export type StartStep = components['schemas']['StartStep'];
export type StateEvent = components['schemas']['StateEvent'];
export type StateFields = components['schemas']['StateFields'];
export type StateItem = components['schemas']['StateItem'];
export type StepOutcome = components['schemas']['StepOutcome'];
export type StoredSamplesSpec = components['schemas']['StoredSamplesSpec'];
export type StreamItem = components['schemas']['StreamItem'];
export type Sweep = components['schemas']['Sweep'];
export type SweepPlan = components['schemas']['SweepPlan'];
export type SweepPreview = components['schemas']['SweepPreview'];
export type SweepState = components['schemas']['SweepState'];
export type SweepToPreview = components['schemas']['SweepToPreview'];
export type SweptPoint = components['schemas']['SweptPoint'];
export type SweptRun = components['schemas']['SweptRun'];
export type TagEnum = components['schemas']['TagEnum'];
export type Timeline = components['schemas']['Timeline'];
export type TimelineSpan = components['schemas']['TimelineSpan'];
export type Token = components['schemas']['Token'];
export type TokenPage = components['schemas']['TokenPage'];
export type TokenScope = components['schemas']['TokenScope'];
export type TrainerAssist = components['schemas']['TrainerAssist'];
export type TrainerChangeSeconds = components['schemas']['TrainerChangeSeconds'];
export type Transition = components['schemas']['Transition'];
export type TransitionFields = components['schemas']['TransitionFields'];
export type TransitionItem = components['schemas']['TransitionItem'];
export type TransitionPage = components['schemas']['TransitionPage'];
export type TriedAgain = components['schemas']['TriedAgain'];
export type Tuning = components['schemas']['Tuning'];
export type TwoExpertFamily = components['schemas']['TwoExpertFamily'];
export type UnitEnum = components['schemas']['UnitEnum'];
export type UsageRow = components['schemas']['UsageRow'];
export type UsageRowPage = components['schemas']['UsageRowPage'];
export type VaeTiling = components['schemas']['VaeTiling'];
export type Validation = components['schemas']['Validation'];
export type Vendor = components['schemas']['Vendor'];
export type VerdictReward = components['schemas']['VerdictReward'];
export type ViewQuery = components['schemas']['ViewQuery'];
export type ViewQueryGroupEnum = components['schemas']['ViewQueryGroupEnum'];
export type ViewToSave = components['schemas']['ViewToSave'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookPage = components['schemas']['WebhookPage'];
export type WhenSpentEnum = components['schemas']['WhenSpentEnum'];
export type WorkCost = components['schemas']['WorkCost'];
export type WorkSeconds = components['schemas']['WorkSeconds'];
export type ZeroConfig = components['schemas']['ZeroConfig'];
export type ResponseRefusal = components['responses']['Refusal'];
export type $defs = Record<string, never>;
export interface operations {
    readonly audit_list: {
        readonly parameters: {
            readonly query?: {
                /** @description An action, or the beginning of one: `gpu.`, `run.c`. */
                readonly action?: string;
                /** @description Name of a user, or of a part of Tandem. */
                readonly actor?: string;
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Rows of a page. */
                readonly limit?: number;
                readonly object_id?: string;
                readonly object_type?: string;
                readonly project_id?: string;
                readonly request_id?: string;
                /** @description Rows from then on. */
                readonly since?: string;
                /** @description As the list of tokens shows it. */
                readonly token_key?: string;
                /** @description Rows before then. */
                readonly until?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AuditRowPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly base_models_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BaseModelPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly budgets_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BudgetPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly budgets_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Budget"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly budgets_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["BudgetToSet"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Budget"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly budgets_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_list: {
        readonly parameters: {
            readonly query?: {
                readonly accelerator?: string;
                readonly node?: string;
                readonly state?: "available" | "allocated" | "cordoned" | "draining" | "maintenance" | "awaiting_test" | "faulty" | "lost";
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolGpuPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolGpu"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedAnnotationsToWrite"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolGpu"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_actions_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NodeAction"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolGpu"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_health_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Rows of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GpuHealthPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_history_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Changes of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolChangePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_minutes_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Minutes from then on; all that are kept without it. */
                readonly since?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GpuMinutes"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_tests_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Tests of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GpuTestPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_tests_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GpuTestRequest"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GpuTest"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly gpus_uses_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Rows of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly gpu_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GpuUsePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "gpus:test_create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GpusToTest"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GpuTestPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly health_live_retrieve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Live"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly health_ready_retrieve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Ready"];
                };
            };
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Ready"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly home: {
        readonly parameters: {
            readonly query?: {
                /** @description Default: all your projects. */
                readonly project?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Home"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly lanes_list: {
        readonly parameters: {
            readonly query?: {
                readonly kind?: "gpu" | "cpu";
                readonly node?: string;
                readonly pool?: string;
                readonly state?: "available" | "allocated" | "cordoned" | "draining" | "maintenance" | "awaiting_test" | "faulty" | "lost";
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolLanePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly lanes_actions_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly lane_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["LaneAction"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolLane"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly lanes_history_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Changes of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly lane_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolChangePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly lends_list: {
        readonly parameters: {
            readonly query?: {
                /** @description From `next` of the page before. */
                readonly cursor?: string;
                /** @description Default: both. */
                readonly kind?: "between_runs" | "within_run";
                /** @description Label of a lane, or name of a GPU. */
                readonly lane?: string;
                /** @description Most lends of a page. Default: 100, and all of them as Arrow. */
                readonly limit?: number;
                /** @description The borrower's or the lender's. */
                readonly project?: string;
                /** @description The borrower. */
                readonly run?: string;
                /** @description Begin of the window: lends that ended later. */
                readonly since?: string;
                /** @description End of the window: lends that began before. */
                readonly until?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["Lend"][];
                    };
                    readonly "application/vnd.apache.arrow.stream": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly lends_sums: {
        readonly parameters: {
            readonly query?: {
                readonly by?: "borrower" | "lender" | "run" | "lane" | "gpu";
                /** @description Default: both. */
                readonly kind?: "between_runs" | "within_run";
                /** @description Label of a lane, or name of a GPU. */
                readonly lane?: string;
                /** @description The borrower's or the lender's. */
                readonly project?: string;
                /** @description The borrower. */
                readonly run?: string;
                /** @description Begin of the window: lends that ended later. */
                readonly since?: string;
                /** @description End of the window: lends that began before. */
                readonly until?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["LendSum"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly me_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Me"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly prometheus_metrics: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly mirrors_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Of this project only. */
                readonly project?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MirrorPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly mirrors_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewMirror"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Mirror"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly mirrors_try_again_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly mirror_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TriedAgain"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly mirrors_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Mirror"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly mirrors_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly mirrors_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedMirrorChanges"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Mirror"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly nodes_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Only these nodes, by id, separated by commas. Ids that name nothing are left out. */
                readonly ids?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolNodePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly nodes_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly node_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolNode"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly nodes_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly node_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly nodes_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly node_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedNodeToWrite"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolNode"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly nodes_actions_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly node_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NodeAction"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolNode"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly nodes_history_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Changes of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly node_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolChangePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly occupancy_retrieve: {
        readonly parameters: {
            readonly query: {
                /** @description Into how many equal parts it is cut. */
                readonly buckets?: number;
                /** @description By default GPU lanes, where there are any. */
                readonly kind?: "gpu" | "cpu";
                /** @description Lanes that are in the pool of this name now. */
                readonly pool?: string;
                /** @description Begin of the window. */
                readonly since: string;
                /** @description End of the window; what lies after now is left out. */
                readonly until: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Occupancy"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly operations_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description One kind or several, separated by commas: preview, command, resize, sweep, gpu_test, drain, retention. */
                readonly kind?: string;
                /** @description Rows of a page. */
                readonly limit?: number;
                /** @description Whether to list only those that you asked for. */
                readonly mine?: boolean;
                /** @description Default: the newest first. */
                readonly order?: "-created_at" | "created_at";
                /** @description Only those of this project. */
                readonly project?: string;
                /** @description Only those that the request of this `X-Request-ID` began. */
                readonly request_id?: string;
                /** @description Only those that concern this run. */
                readonly run?: string;
                /** @description One state or several, separated by commas: waiting, running, succeeded, failed, cancelled. */
                readonly state?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["Operation"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly operations_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly operation_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Operation"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly operations_cancel_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly operation_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Operation"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly plans_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SpecToPlan"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanPreview"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pool_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolFacts"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pool_policy_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Name of the pool. */
                readonly pool?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolPolicy"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pool_policy_update: {
        readonly parameters: {
            readonly query?: {
                /** @description Name of the pool. */
                readonly pool?: string;
            };
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PolicyToSet"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolPolicy"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pool_actions_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PoolActions"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolNodePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pools_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pools_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewPool"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pool"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pools_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pool"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pools_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pools_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedPoolToChange"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pool"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly pools_preview: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PoolsToTry"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LaneMovePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly presets_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PresetPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProjectPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ProjectName"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedProjectName"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_members_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MemberPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_members_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewMember"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Member"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_members_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly project_id: string;
                readonly user_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly projects_members_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly project_id: string;
                readonly user_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedMemberRole"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Member"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly prompt_sets_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Of this project only. */
                readonly project?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ListedPromptSetPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly prompt_sets_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewPromptSet"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PromptSet"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly prompt_sets_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PromptSet"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly prompt_sets_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly queue_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Only the first so many of each pool. */
                readonly limit?: number;
                /** @description Only the queue of this pool. */
                readonly pool?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["QueuedRunPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly queue_running_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Name of the pool. */
                readonly pool?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RunningInPoolPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly queue_preview: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SharesToTry"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["QueuedRunPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly retention_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Retention"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly retention_delete: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DeletionRequest"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AskedDeletion"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly retention_preview: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionPreview"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly rewards_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RewardPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly rewards_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Reward"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_spec_schema_retrieve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly [key: string]: unknown;
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_views_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SavedViewPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_views_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ViewToSave"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SavedView"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_views_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly view_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Whether to list only the archived runs. Default: only the others. */
                readonly archived?: boolean;
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Only runs that ended within so many days. */
                readonly ended_days?: number;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Whether to list only the runs that you created. */
                readonly mine?: boolean;
                readonly project?: string;
                /** @description Words of the name, the notes or a tag. */
                readonly search?: string;
                /** @description One state or several, separated by commas: queued, starting, running, paused, stopping, completed, stopped, cancelled, failed. */
                readonly state?: string;
                readonly tag?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["ListedRun"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewRun"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Run"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Run"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedRunChanges"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Run"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_actions_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ActionRequest"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ActionAnswer"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_adapters_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AdapterPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_adapters_archive_retrieve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly adapter_id: number;
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/x-tar": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_alternatives_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AlternativeLanesPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_alternatives_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["LanesToAskFor"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Run"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_artifacts_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempt that made the file. Default: the newest that has the path. */
                readonly attempt?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly path: string;
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "*/*": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_attempts_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AttemptPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_bubbles_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Start of the window in Unix seconds. Default: the start of the first span. */
                readonly from?: number;
                /** @description End of the window in Unix seconds. Default: the end of the newest span. */
                readonly to?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Bubbles"];
                    readonly "application/vnd.apache.arrow.stream": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_checkpoints_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["SavedCheckpoint"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_commands_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CommandPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_duplicate_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["DuplicateRequest"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Run"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_events_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Items above this number, oldest first. */
                readonly after_seq?: number;
                /** @description The newest items below this number. */
                readonly before_seq?: number;
                readonly limit?: number;
                /** @description Types by comma, or `all`. Default: all but the frequent ones (metrics, spans, lend, log, …). */
                readonly types?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["StreamItem"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_fragments_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly batch: number;
                readonly fragment: number;
                readonly group: number;
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fragment"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_lane_seconds_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LaneSeconds"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_lane_states_retrieve: {
        readonly parameters: {
            readonly query?: {
                readonly buckets?: number;
                /** @description Start of the window in Unix seconds. Default: the start of the first span. */
                readonly from?: number;
                /** @description End of the window in Unix seconds. Default: the end of the newest span. */
                readonly to?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LaneStates"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_lending_retrieve: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Lending"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_lineage_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Lineage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_logs_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Entries above this number, oldest first. */
                readonly after_seq?: number;
                readonly attempt?: number;
                /** @description The newest entries below this number. */
                readonly before_seq?: number;
                /** @description The least severity listed. */
                readonly level?: "debug" | "info" | "warning" | "error";
                readonly limit?: number;
                /** @description Text that an entry contains. */
                readonly search?: string;
                /** @description A lane, `driver`, `web`, or a role: all lanes of it. */
                readonly source?: string;
                /** @description Types by comma: `log` for the engine's records, else those of events. */
                readonly types?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["LogEntry"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_logs_errors_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["LogError"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_logs_text_retrieve: {
        readonly parameters: {
            readonly query?: {
                readonly attempt?: number;
                /** @description The least severity listed. */
                readonly level?: "debug" | "info" | "warning" | "error";
                /** @description Text that an entry contains. */
                readonly search?: string;
                /** @description A lane, `driver`, `web`, or a role: all lanes of it. */
                readonly source?: string;
                /** @description Types by comma: `log` for the engine's records, else those of events. */
                readonly types?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_metrics_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description First optimizer step of the window. */
                readonly from_step?: number;
                /** @description Metric names, separated by commas. Default: all. */
                readonly keys?: string;
                /** @description Most points of a curve. Default: 500, and all of them as Arrow. */
                readonly max_points?: number;
                /** @description Last optimizer step of the window. */
                readonly to_step?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Curves"];
                    readonly "application/vnd.apache.arrow.stream": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_mirrors_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["MirroredRun"][];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_mirrors_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RunToMirror"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MirroredRun"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_plan_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RunPlan"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_planned_time_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["PlannedTime"][];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_previews_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Preview"][];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_previews_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewPreview"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PreviewAnswer"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_previews_images_retrieve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
                readonly preview_id: string;
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "*/*": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_prompts_retrieve: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                readonly offset?: number;
                /** @description What comes first. */
                readonly order?: "without_spread" | "repeated" | "missing" | "lowest_reward" | "prompt";
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PromptAuditPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_queue_place_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["QueueMove"];
            };
        };
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_queue_place_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_replays_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Replay"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_report_retrieve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_resize_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["ResizeRequest"];
            };
        };
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ResizeAnswer"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_samples_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Batch of the samples. Default: the newest that has pictures. */
                readonly batch?: number;
                readonly purpose?: "train" | "evaluate" | "request";
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Samples"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_schedule_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempt that the log is of. Default: the newest that has one. */
                readonly attempt?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/gzip": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_size_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RunSize"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_staleness_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description First batch of the window, from 1. */
                readonly from_batch?: number;
                readonly max_columns?: number;
                /** @description Last batch of the window. */
                readonly to_batch?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StalenessColumns"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly run_stream: {
        readonly parameters: {
            readonly query?: {
                /** @description Items above this number; 0 for all. Without it, what happens from now on. */
                readonly after_seq?: number;
            };
            readonly header?: {
                /** @description Sent by clients that connect again; goes first. */
                readonly "Last-Event-ID"?: number;
            };
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": string;
                };
            };
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_timeline_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Start of the window in Unix seconds. Default: the start of the first span. */
                readonly from?: number;
                /** @description About the most spans. Default: 5000, and all of them as Arrow. */
                readonly limit?: number;
                /** @description End of the window in Unix seconds. Default: the end of the newest span. */
                readonly to?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Timeline"];
                    readonly "application/vnd.apache.arrow.stream": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_trace_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Start of the window in Unix seconds. Default: the start of the first span. */
                readonly from?: number;
                /** @description End of the window in Unix seconds. Default: the end of the newest span. */
                readonly to?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/gzip": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly runs_transitions_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TransitionPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "runs:bulk_create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["BulkRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BulkAnswer"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "runs:import_create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ConfigurationToImport"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ImportedSpec"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "runs:preflight_create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RunToCheck"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StartChecks"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "runs:sparklines_retrieve": {
        readonly parameters: {
            readonly query: {
                /** @description Ids of at most 200 runs, separated by commas. */
                readonly ids: string;
                /** @description Name of the metric. */
                readonly key?: string;
                readonly max_points?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Sparklines"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "runs:table_retrieve": {
        readonly parameters: {
            readonly query?: {
                /** @description Whether to list only the archived runs. Default: only the others. */
                readonly archived?: boolean;
                readonly descending?: boolean;
                /** @description Only runs that ended within so many days. */
                readonly ended_days?: number;
                /** @description What rows are put together by. Default: nothing. */
                readonly group?: "project" | "state" | "tag" | "user" | "pool" | "model" | "preset" | "algorithm";
                readonly limit?: number;
                /** @description Whether to list only the runs that you created. */
                readonly mine?: boolean;
                readonly offset?: number;
                /** @description Column that the rows are ordered by; rows without a value come last. */
                readonly order?: "created" | "name" | "state" | "progress" | "reward" | "started" | "duration";
                readonly project?: string;
                /** @description Words of the name, the notes or a tag. */
                readonly search?: string;
                /** @description One state or several, separated by commas: queued, starting, running, paused, stopping, completed, stopped, cancelled, failed. */
                readonly state?: string;
                readonly tag?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RunTable"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "runs:validate_create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["SpecToValidate"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Validation"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly secrets_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Of this project only. */
                readonly project?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SecretPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly secrets_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewSecret"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Secret"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly secrets_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Of this project only. */
                readonly project?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ServiceAccountPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewServiceAccount"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ServiceAccount"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_tokens_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly account_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TokenPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_tokens_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly account_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewServiceToken"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedToken"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_tokens_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly account_id: number;
                readonly token_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ServiceAccount"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly service_accounts_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedServiceAccountChanges"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ServiceAccount"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly shares_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Name of the pool. */
                readonly pool?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolSharePage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly shares_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Name of the pool. */
                readonly pool?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolShare"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly shares_update: {
        readonly parameters: {
            readonly query?: {
                /** @description Name of the pool. */
                readonly pool?: string;
            };
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["ShareToSet"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PoolShare"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly sweeps_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                readonly project?: string;
                readonly state?: "running" | "stopping" | "stopped" | "completed";
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** Format: uri */
                        readonly next: string | null;
                        readonly results: readonly components["schemas"]["ListedSweep"][];
                    };
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly sweeps_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewSweep"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Sweep"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly sweeps_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Sweep"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly sweeps_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly sweeps_stop_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly sweep_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Sweep"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly "sweeps:preview_create": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SweepToPreview"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SweepPreview"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly tokens_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TokenPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly tokens_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewToken"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedToken"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly tokens_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly usage_list: {
        readonly parameters: {
            readonly query: {
                readonly by?: "project" | "user" | "accelerator" | "base_model" | "pool" | "node" | "run" | "day";
                /** @description Begin of the window. */
                readonly since: string;
                /** @description End of the window, not included. */
                readonly until: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UsageRowPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly usage_table: {
        readonly parameters: {
            readonly query: {
                readonly by?: "project" | "user" | "accelerator" | "base_model" | "pool" | "node" | "run" | "day";
                /** @description Begin of the window. */
                readonly since: string;
                /** @description End of the window, not included. */
                readonly until: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly usage_days_retrieve: {
        readonly parameters: {
            readonly query: {
                readonly by?: "project" | "user" | "accelerator" | "base_model" | "pool" | "node" | "run" | "day";
                /** @description Begin of the window. */
                readonly since: string;
                /** @description End of the window, not included. */
                readonly until: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DailyUsage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly users_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AccountPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly users_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedAccountRights"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Account"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly users_second_factor_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly user_id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_list: {
        readonly parameters: {
            readonly query?: {
                /** @description The pagination cursor value. */
                readonly cursor?: string;
                /** @description Number of results to return per page. */
                readonly limit?: number;
                /** @description Of this project only. */
                readonly project?: string;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewWebhook"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_destroy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No response body */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_partial_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description An `ETag`: 412, and nothing is changed, where what users change here has another one by now. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["PatchedWebhookChanges"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhook_deliveries_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Of the page, from `next` of the page before. */
                readonly cursor?: string;
                /** @description Rows of a page. */
                readonly limit?: number;
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhook_delivery_retrieve: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of fields, with commas between them: the answer, or each of its rows, has these alone. */
                readonly fields?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly delivery_id: string;
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Delivery"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_deliveries_redeliver_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly delivery_id: string;
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Delivery"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_rotate_secret_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["SecretRotation"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
    readonly webhooks_test_create: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeat within 24 hours gets the first answer. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Delivery"];
                };
            };
            readonly default: components["responses"]["Refusal"];
        };
    };
}
type FlattenedDeepRequired<T> = {
    [K in keyof T]-?: FlattenedDeepRequired<T[K] extends unknown[] | undefined | null ? Extract<T[K], unknown[]>[number] : T[K]>;
};
type ReadonlyArray<T> = [
    Exclude<T, undefined>
] extends [
    unknown[]
] ? Readonly<Exclude<T, undefined>> : Readonly<Exclude<T, undefined>[]>;
export const pathsApiV1GpusGetParametersQueryStateValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/gpus"]["get"]["parameters"]["query"]["state"]> = ["available", "allocated", "cordoned", "draining", "maintenance", "awaiting_test", "faulty", "lost"];
export const pathsApiV1LanesGetParametersQueryKindValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/lanes"]["get"]["parameters"]["query"]["kind"]> = ["gpu", "cpu"];
export const pathsApiV1LanesGetParametersQueryStateValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/lanes"]["get"]["parameters"]["query"]["state"]> = ["available", "allocated", "cordoned", "draining", "maintenance", "awaiting_test", "faulty", "lost"];
export const pathsApiV1LendsGetParametersQueryKindValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/lends"]["get"]["parameters"]["query"]["kind"]> = ["between_runs", "within_run"];
export const pathsApiV1LendsSumsGetParametersQueryByValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/lends/sums"]["get"]["parameters"]["query"]["by"]> = ["borrower", "lender", "run", "lane", "gpu"];
export const pathsApiV1LendsSumsGetParametersQueryKindValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/lends/sums"]["get"]["parameters"]["query"]["kind"]> = ["between_runs", "within_run"];
export const pathsApiV1OccupancyGetParametersQueryKindValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/occupancy"]["get"]["parameters"]["query"]["kind"]> = ["gpu", "cpu"];
export const pathsApiV1OperationsGetParametersQueryOrderValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/operations"]["get"]["parameters"]["query"]["order"]> = ["-created_at", "created_at"];
export const pathsApiV1RunsRun_idLogsGetParametersQueryLevelValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/runs/{run_id}/logs"]["get"]["parameters"]["query"]["level"]> = ["debug", "info", "warning", "error"];
export const pathsApiV1RunsRun_idLogsTextGetParametersQueryLevelValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/runs/{run_id}/logs/text"]["get"]["parameters"]["query"]["level"]> = ["debug", "info", "warning", "error"];
export const pathsApiV1RunsRun_idPromptsGetParametersQueryOrderValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/runs/{run_id}/prompts"]["get"]["parameters"]["query"]["order"]> = ["without_spread", "repeated", "missing", "lowest_reward", "prompt"];
export const pathsApiV1RunsRun_idSamplesGetParametersQueryPurposeValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/runs/{run_id}/samples"]["get"]["parameters"]["query"]["purpose"]> = ["train", "evaluate", "request"];
export const pathsApiV1RunsTableGetParametersQueryGroupValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/runs:table"]["get"]["parameters"]["query"]["group"]> = ["project", "state", "tag", "user", "pool", "model", "preset", "algorithm"];
export const pathsApiV1RunsTableGetParametersQueryOrderValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/runs:table"]["get"]["parameters"]["query"]["order"]> = ["created", "name", "state", "progress", "reward", "started", "duration"];
export const pathsApiV1SweepsGetParametersQueryStateValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/sweeps"]["get"]["parameters"]["query"]["state"]> = ["running", "stopping", "stopped", "completed"];
export const pathsApiV1UsageGetParametersQueryByValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/usage"]["get"]["parameters"]["query"]["by"]> = ["project", "user", "accelerator", "base_model", "pool", "node", "run", "day"];
export const pathsApiV1UsageCsvGetParametersQueryByValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/usage.csv"]["get"]["parameters"]["query"]["by"]> = ["project", "user", "accelerator", "base_model", "pool", "node", "run", "day"];
export const pathsApiV1UsageDaysGetParametersQueryByValues: ReadonlyArray<FlattenedDeepRequired<paths>["/api/v1/usage/days"]["get"]["parameters"]["query"]["by"]> = ["project", "user", "accelerator", "base_model", "pool", "node", "run", "day"];
export const actionKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ActionKind"]> = ["pause", "resume", "stop", "cancel", "sample_now", "checkpoint_now"];
export const adapterEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["AdapterEvent"]["type"]> = ["adapter"];
export const adapterItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["AdapterItem"]["type"]> = ["adapter"];
export const aestheticSettingsDtypeAnyOf0Values: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["AestheticSettings"]["dtype"]> = ["fp32", "bf16"];
export const alternativeChangeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["AlternativeChange"]> = ["fewer_lanes", "fewer_reward_lanes", "rewards_on_cpus", "other_pool"];
export const attentionBackendValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["AttentionBackend"]> = ["auto", "default", "_native_math", "_native_flash", "_native_efficient", "_native_cudnn", "flash", "xformers", "_native_npu"];
export const baseModelSpecDtypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["BaseModelSpec"]["dtype"]> = ["fp32", "bf16"];
export const bulkItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["BulkItemType"]> = ["costs", "groups", "lend", "log", "metrics", "queues", "spans", "staleness"];
export const bulkRequestActionEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["BulkRequestActionEnum"]> = ["stop", "cancel", "archive", "unarchive", "tag", "untag"];
export const categoryEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CategoryEnum"]> = ["project", "test", "idle", "out_of_service"];
export const checkpointEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CheckpointEvent"]["type"]> = ["checkpoint"];
export const checkpointItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CheckpointItem"]["type"]> = ["checkpoint"];
export const choiceRangeKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ChoiceRange"]["kind"]> = ["choice"];
export const clipScoreSettingsDtypeAnyOf0Values: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ClipScoreSettings"]["dtype"]> = ["fp32", "bf16"];
export const commandDoneEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CommandDoneEvent"]["type"]> = ["command_done"];
export const commandDoneItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CommandDoneItem"]["type"]> = ["command_done"];
export const commandItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CommandItem"]["type"]> = ["command"];
export const commandKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CommandKind"]> = ["pause", "resume", "stop", "cancel", "sample_now", "checkpoint_now", "resize"];
export const compilationValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Compilation"]> = ["auto", "off", "inductor", "aot_eager"];
export const contextParallelValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ContextParallel"]> = ["auto", "off", "ulysses"];
export const costsEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CostsEvent"]["type"]> = ["costs"];
export const costsItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["CostsItem"]["type"]> = ["costs"];
export const danceGrpoSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DanceGrpoSpec"]["advantage_std"]> = ["group", "batch"];
export const danceGrpoSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DanceGrpoSpec"]["name"]> = ["dance_grpo"];
export const deliveryStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DeliveryState"]> = ["waiting", "delivered", "failed"];
export const deviceEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DeviceEnum"]> = ["l40s", "h100", "h200", "h20", "cpu"];
export const diffusionDpoSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DiffusionDpoSpec"]["name"]> = ["diffusion_dpo"];
export const diffusionNftSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DiffusionNftSpec"]["advantage_std"]> = ["group", "batch"];
export const diffusionNftSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["DiffusionNftSpec"]["name"]> = ["diffusion_nft"];
export const endStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["EndState"]> = ["cancelled", "completed", "failed", "stopped"];
export const evaluationEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["EvaluationEvent"]["type"]> = ["evaluation"];
export const evaluationItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["EvaluationItem"]["type"]> = ["evaluation"];
export const floatRangeKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FloatRange"]["kind"]> = ["log_uniform", "uniform"];
export const flowDppoSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowDppoSpec"]["advantage_std"]> = ["group", "batch"];
export const flowDppoSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowDppoSpec"]["name"]> = ["flow_dppo"];
export const flowGrpoFastSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowGrpoFastSpec"]["advantage_std"]> = ["group", "batch"];
export const flowGrpoFastSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowGrpoFastSpec"]["name"]> = ["flow_grpo_fast"];
export const flowGrpoFastSpecPositionValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowGrpoFastSpec"]["position"]> = ["random", "first"];
export const flowGrpoSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowGrpoSpec"]["advantage_std"]> = ["group", "batch"];
export const flowGrpoSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["FlowGrpoSpec"]["name"]> = ["flow_grpo"];
export const forecastBasisValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ForecastBasis"]> = ["measured", "history", "plan", "stop_limit", "unknown"];
export const gateEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GateEvent"]["type"]> = ["gate"];
export const gateItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GateItem"]["type"]> = ["gate"];
export const gpuTestStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GpuTestState"]> = ["queued", "running", "passed", "failed"];
export const gpuTestStepNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GpuTestStepName"]> = ["device", "matrix_product", "memory_sweep", "engine", "all_reduce"];
export const groupsEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GroupsEvent"]["type"]> = ["groups"];
export const groupsItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GroupsItem"]["type"]> = ["groups"];
export const grpoGuardSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GrpoGuardSpec"]["advantage_std"]> = ["group", "batch"];
export const grpoGuardSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["GrpoGuardSpec"]["name"]> = ["grpo_guard"];
export const healthEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["HealthEnum"]> = ["healthy", "warning", "failed"];
export const heartbeatFrameKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["HeartbeatFrame"]["kind"]> = ["heartbeat"];
export const helloFrameKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["HelloFrame"]["kind"]> = ["hello"];
export const homeGroupGroupEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["HomeGroupGroupEnum"]> = ["running", "waiting", "failed", "finished"];
export const hookEventValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["HookEvent"]> = ["run.started", "run.resumed", "run.restarted", "run.paused", "run.completed", "run.stopped", "run.cancelled", "run.failed", "sweep.finished", "reward_hacking.suspected", "reward_hacking.over", "budget.near", "budget.spent", "gpu.faulty", "gpu.lost", "gpu.found", "node.lost", "node.found"];
export const hpsV2SettingsDtypeAnyOf0Values: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["HpsV2Settings"]["dtype"]> = ["fp32", "bf16"];
export const idleCauseValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["IdleCause"]> = ["dispatch", "no_fragment_ready", "head_of_line", "group_incomplete", "reward_pending", "batch_barrier", "gang_barrier", "back_pressure", "publish_wait", "start_up", "drain", "failure", "resize"];
export const imageRewardSettingsDtypeAnyOf0Values: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ImageRewardSettings"]["dtype"]> = ["fp32", "bf16"];
export const importKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ImportKind"]> = ["flow_grpo", "diffusers"];
export const intRangeKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["IntRange"]["kind"]> = ["int"];
export const itemsFrameKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ItemsFrame"]["kind"]> = ["items"];
export const laneActionKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneActionKind"]> = ["cordon", "resume"];
export const laneKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneKind"]> = ["gpu", "cpu"];
export const laneRoleValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneRole"]> = ["rollout", "trainer", "reward"];
export const laneStallEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneStallEvent"]["type"]> = ["lane_stall"];
export const laneStallItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneStallItem"]["type"]> = ["lane_stall"];
export const laneStartEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneStartEvent"]["type"]> = ["lane_start"];
export const laneStartItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneStartItem"]["type"]> = ["lane_start"];
export const laneStepValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneStep"]> = ["waiting", "starting", "leaving", "joined", "kept", "released", "given_up"];
export const laneWorkValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LaneWork"]> = ["start", "load", "identify", "switch", "pull", "generate", "score", "accumulate", "commit", "snapshot", "broadcast", "publish", "checkpoint", "restore", "export"];
export const lanesEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LanesEvent"]["type"]> = ["lanes"];
export const lanesItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LanesItem"]["type"]> = ["lanes"];
export const lendEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LendEvent"]["type"]> = ["lend"];
export const lendItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LendItem"]["type"]> = ["lend"];
export const lendKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LendKind"]> = ["between_runs", "within_run"];
export const lenderKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LenderKind"]> = ["pool", "project", "run"];
export const logEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LogEvent"]["type"]> = ["log"];
export const logEventLevelValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LogEvent"]["level"]> = ["debug", "info", "warning", "error"];
export const logFieldsLevelValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LogFields"]["level"]> = ["debug", "info", "warning", "error"];
export const logItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LogItem"]["type"]> = ["log"];
export const logLevelValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["LogLevel"]> = ["debug", "info", "warning", "error"];
export const messageFormValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MessageForm"]> = ["standard", "slack", "discord", "email"];
export const metricValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Metric"]> = ["reward/mean", "reward/std", "reward/part/{name}", "reward/missing/{name}", "reward/retries/{name}", "reward/hacking_suspected", "reward/zero_std_share", "reward/resampled_groups", "policy/skipped_optimizer_steps", "policy/kl", "policy/ratio_mean", "policy/ratio_max_deviation", "policy/clip_fraction", "policy/loss", "policy/grad_norm", "policy/learning_rate", "speed/images_per_second", "speed/batch_seconds", "speed/generate_seconds", "speed/train_seconds", "speed/padding_seconds", "staleness/mean", "staleness/max", "staleness/policy_version", "lanes/idle_share", "eval/reward", "eval/part/{name}"];
export const metricsEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MetricsEvent"]["type"]> = ["metrics"];
export const metricsItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MetricsItem"]["type"]> = ["metrics"];
export const mirrorKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MirrorKind"]> = ["wandb", "wandb_offline", "mlflow", "tensorboard"];
export const mirroringStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MirroringState"]> = ["following", "done", "given_up"];
export const mixGrpoSpecAdvantage_stdValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MixGrpoSpec"]["advantage_std"]> = ["group", "batch"];
export const mixGrpoSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MixGrpoSpec"]["name"]> = ["mix_grpo"];
export const mixGrpoSpecStrategyValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["MixGrpoSpec"]["strategy"]> = ["progressive", "random"];
export const modelFamilyValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ModelFamily"]> = ["flux", "sd3", "flux2", "flux2_klein", "qwen_image", "z_image", "wan", "wan22", "hunyuan_video"];
export const ofEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OfEnum"]> = ["node", "gpu", "lane"];
export const oldLogProbsValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OldLogProbs"]> = ["rollout", "trainer"];
export const operationKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OperationKind"]> = ["preview", "command", "resize", "sweep", "gpu_test", "drain", "retention"];
export const operationStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OperationState"]> = ["waiting", "running", "succeeded", "failed", "cancelled"];
export const operationTargetTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OperationTarget"]["type"]> = ["run", "sweep", "gpu", "node", "retention"];
export const orderEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OrderEnum"]> = ["created", "name", "state", "progress", "reward", "started", "duration"];
export const outOfMemoryEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OutOfMemoryEvent"]["type"]> = ["out_of_memory"];
export const outOfMemoryItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["OutOfMemoryItem"]["type"]> = ["out_of_memory"];
export const periodEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PeriodEnum"]> = ["month", "whole"];
export const phaseValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Phase"]> = ["bootstrap", "place_lanes", "load_model", "restore", "evaluate", "train", "checkpoint", "export", "finish"];
export const phaseEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PhaseEvent"]["type"]> = ["phase"];
export const phaseItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PhaseItem"]["type"]> = ["phase"];
export const pickScoreSettingsDtypeAnyOf0Values: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PickScoreSettings"]["dtype"]> = ["fp32", "bf16"];
export const pipelineSpecMax_stalenessValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PipelineSpec"]["max_staleness"]> = [0, 1];
export const placementValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Placement"]> = ["colocated", "disaggregated", "auto"];
export const placementEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PlacementEnum"]> = ["colocated", "disaggregated"];
export const planModeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Plan"]["mode"]> = ["colocated", "disaggregated", "gap", "tsp", "tag", "stale"];
export const planCostsValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Plan"]["costs"]> = ["measured", "own", "profile", "corrected"];
export const planEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PlanEvent"]["type"]> = ["plan"];
export const planItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PlanItem"]["type"]> = ["plan"];
export const planPreviewModeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PlanPreview"]["mode"]> = ["colocated", "disaggregated", "gap", "tsp", "tag", "stale"];
export const planPreviewCostsValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PlanPreview"]["costs"]> = ["measured", "own", "profile", "corrected"];
export const pointStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PointState"]> = ["waiting", "running", "pruned", "completed", "failed"];
export const poolActionKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PoolActionKind"]> = ["cordon", "drain", "maintenance", "resume"];
export const poolChangedFrameKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PoolChangedFrame"]["kind"]> = ["pool"];
export const poolStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PoolState"]> = ["available", "allocated", "cordoned", "draining", "maintenance", "awaiting_test", "faulty", "lost"];
export const previewStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PreviewState"]> = ["queued", "running", "done", "failed", "cancelled"];
export const priorityValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Priority"]> = ["high", "normal", "low"];
export const priorityEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PriorityEnum"]> = ["high", "normal", "low"];
export const projectRoleValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ProjectRole"]> = ["viewer", "editor", "owner"];
export const prunerKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PrunerKind"]> = ["none", "successive_halving"];
export const publishEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PublishEvent"]["type"]> = ["publish"];
export const publishItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["PublishItem"]["type"]> = ["publish"];
export const publishingValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Publishing"]> = ["store", "direct"];
export const queueBlockerKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["QueueBlockerKind"]> = ["quota", "budget", "pool_too_small", "out_of_service", "lanes_held", "runs_ahead", "starting"];
export const queueDirectionValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["QueueDirection"]> = ["front", "up", "down"];
export const queueEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["QueueEvent"]["type"]> = ["queues"];
export const queueItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["QueueItem"]["type"]> = ["queues"];
export const recordedResizeStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RecordedResize"]["state"]> = ["requested", "accepted", "done", "failed"];
export const reflSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ReflSpec"]["name"]> = ["refl"];
export const remoteFormatValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RemoteFormat"]> = ["msgpack", "json"];
export const resizeCauseValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ResizeCause"]> = ["user", "plan", "drain", "borrow", "reclaim", "idle"];
export const resizeStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ResizeState"]> = ["accepted", "done", "failed"];
export const resumedEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ResumedEvent"]["type"]> = ["resumed"];
export const resumedItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ResumedItem"]["type"]> = ["resumed"];
export const retentionKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RetentionKind"]> = ["telemetry", "samples", "logs", "scheduler events"];
export const revisedPlanModeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RevisedPlan"]["mode"]> = ["colocated", "disaggregated", "gap", "tsp", "tag", "stale"];
export const revisedPlanCostsValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RevisedPlan"]["costs"]> = ["measured", "own", "profile", "corrected"];
export const rewardDeviceValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardDevice"]> = ["auto", "cpu", "shared_gpu", "own_gpu"];
export const rewardFlowSpecNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardFlowSpec"]["name"]> = ["reward_flow"];
export const rewardHackingEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardHackingEvent"]["type"]> = ["reward_hacking"];
export const rewardHackingItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardHackingItem"]["type"]> = ["reward_hacking"];
export const rewardMixingValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardMixing"]> = ["sum", "normalised"];
export const rewardNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardName"]> = ["shape_match", "shape_judge", "jpeg_compressibility", "colorfulness", "ocr", "clip_score", "pick_score", "hps_v2", "image_reward", "aesthetic", "motion_smoothness", "remote"];
export const rewardsOnEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RewardsOnEnum"]> = ["auto", "cpu", "shared_gpu", "own_gpu"];
export const runEndingAnyOf0Values: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Run"]["ending"]> = ["stop", "cancel"];
export const runChangedFrameKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RunChangedFrame"]["kind"]> = ["run_changed"];
export const runStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["RunState"]> = ["queued", "starting", "running", "paused", "stopping", "completed", "stopped", "cancelled", "failed"];
export const samplePurposeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SamplePurpose"]> = ["train", "evaluate", "request"];
export const samplerKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SamplerKind"]> = ["grid", "random"];
export const samplesEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SamplesEvent"]["type"]> = ["samples"];
export const samplesEventPurposeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SamplesEvent"]["purpose"]> = ["train", "evaluate", "request"];
export const samplesFieldsPurposeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SamplesFields"]["purpose"]> = ["train", "evaluate", "request"];
export const samplesItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SamplesItem"]["type"]> = ["samples"];
export const sdeTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SdeType"]> = ["flow", "cps", "dance"];
export const slowLanesEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SlowLanesEvent"]["type"]> = ["slow_lanes"];
export const slowLanesItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SlowLanesItem"]["type"]> = ["slow_lanes"];
export const snapshotFrameKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SnapshotFrame"]["kind"]> = ["snapshot"];
export const softwareEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SoftwareEvent"]["type"]> = ["software"];
export const softwareItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SoftwareItem"]["type"]> = ["software"];
export const spanKindValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SpanKind"]> = ["generate", "lent_generate", "decode", "encode", "score", "train", "publish", "pull", "switch", "evaluate", "checkpoint", "pause", "idle"];
export const spansEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SpansEvent"]["type"]> = ["spans"];
export const spansItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SpansItem"]["type"]> = ["spans"];
export const staleClipValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StaleClip"]> = ["proximal", "behaviour"];
export const stalenessEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StalenessEvent"]["type"]> = ["staleness"];
export const stalenessItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StalenessItem"]["type"]> = ["staleness"];
export const stallStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StallState"]> = ["slow", "silent", "hung", "working"];
export const startCheckNameValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StartCheckName"]> = ["spec", "model", "rewards", "prompts", "memory", "host_memory", "store", "embeddings", "disk", "project", "queue", "end"];
export const startCheckStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StartCheckState"]> = ["fine", "warning", "refused", "unknown"];
export const startStepValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StartStep"]> = ["requested", "placed", "loading", "ready"];
export const stateEventTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StateEvent"]["type"]> = ["state"];
export const stateItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StateItem"]["type"]> = ["state"];
export const stepOutcomeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["StepOutcome"]> = ["passed", "failed", "skipped"];
export const sweepStateValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["SweepState"]> = ["running", "stopping", "stopped", "completed"];
export const tagEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["TagEnum"]> = ["off", "greedy", "search"];
export const tokenScopeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["TokenScope"]> = ["read", "run", "pool", "admin"];
export const trainerAssistValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["TrainerAssist"]> = ["off", "greedy", "search"];
export const transitionItemTypeValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["TransitionItem"]["type"]> = ["transition"];
export const tuningValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Tuning"]> = ["lora", "full"];
export const twoExpertFamilyValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["TwoExpertFamily"]> = ["wan22"];
export const unitEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["UnitEnum"]> = ["cost", "gpu_hours"];
export const vaeTilingValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["VaeTiling"]> = ["auto", "enabled", "disabled"];
export const vendorValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["Vendor"]> = ["nvidia", "amd", "ascend"];
export const verdictRewardValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["VerdictReward"]> = ["shape_judge"];
export const viewQueryGroupEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ViewQueryGroupEnum"]> = ["project", "state", "tag", "user", "pool", "model", "preset", "algorithm"];
export const whenSpentEnumValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["WhenSpentEnum"]> = ["warn", "hold", "stop"];
export const workSecondsWorkValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["WorkSeconds"]["work"]> = ["generate", "accumulate", "score"];
export const zeroConfigValues: ReadonlyArray<FlattenedDeepRequired<components>["schemas"]["ZeroConfig"]> = ["zero0", "zero1", "zero1_cpuoffload", "zero2", "zero2_cpuoffload", "zero3", "zero3_optimizer_cpuoffload", "zero3_cpuoffload"];
