/** What is checked before the run starts: what stands against it first, with what to do, and what is fine when asked for. */

import { useEffect } from "preact/hooks";
import type { StartCheck, StartChecks } from "../../api/schema.ts";
import type { JsonObject } from "../../base/paths.ts";
import { Coded } from "../../ui/coded.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import type { FormModel } from "./form_model.ts";
import type { FormView } from "./form_view.ts";
import type { KeptAnswer } from "./kept_answer.ts";

export type Preflight = KeptAnswer<StartChecks>;

/** Lanes come free and disks fill up while somebody fills in the form. */
const AGAIN_MILLISECONDS = 30_000;

const LABELS: Readonly<Record<StartCheck["name"], string>> = {
  spec: "Settings",
  model: "Base model",
  rewards: "Rewards",
  prompts: "Prompts",
  memory: "Memory",
  host_memory: "Host memory",
  store: "Object store",
  embeddings: "Embeddings",
  disk: "Disk",
  project: "Project",
  queue: "Start",
  end: "End",
};

const ICONS: Readonly<Record<StartCheck["state"], IconName>> = {
  fine: "check",
  warning: "warning",
  refused: "close",
  unknown: "help",
};

/** What stands against the run comes first. */
const ORDER: readonly StartCheck["state"][] = ["refused", "warning", "unknown"];

interface Props {
  readonly model: FormModel;
  readonly view: FormView;
  readonly preflight: Preflight;
}

export function StartChecksPanel({ model, view, preflight }: Props) {
  const isReady = model.ok.value && model.project.value !== "";
  const { name: _name, preset: _preset, ...run } = model.newRun;
  const question = run as JsonObject;
  useEffect(() => {
    if (isReady) preflight.want(question);
  }, [isReady, JSON.stringify(question)]);
  useEffect(() => {
    const timer = setInterval(() => preflight.again(), AGAIN_MILLISECONDS);
    return () => clearInterval(timer);
  }, [preflight]);
  const checks = preflight.kept.value?.answer.checks;
  return (
    <section class="card stack-s start-checks" aria-labelledby="start-checks-title">
      <div class="row-between">
        <h2 id="start-checks-title">Before the start</h2>
        <span class="tiny faint" aria-live="polite">
          {preflight.asking.value ? "checking…" : isReady ? "" : "waits for a valid spec"}
        </span>
      </div>
      {preflight.error.value !== null && (
        <p class="notice bad small" role="alert">
          {preflight.error.value}
        </p>
      )}
      {checks ? (
        <Listed checks={checks} view={view} />
      ) : (
        preflight.error.value === null && <div class="start-checks-pending" aria-hidden="true" />
      )}
    </section>
  );
}

function Listed({ checks, view }: { checks: readonly StartCheck[]; view: FormView }) {
  const against = ORDER.flatMap((state) => checks.filter((check) => check.state === state));
  const fine = checks.filter(({ state }) => state === "fine");
  return (
    <>
      {against.length > 0 && <Rows checks={against} view={view} label="What stands against it" />}
      {fine.length > 0 && (
        <details>
          <summary class="small">
            <span class="start-check-state fine">
              <Icon name="check" />
            </span>{" "}
            {fine.length} of {checks.length} checks are fine
          </summary>
          <Rows checks={fine} view={view} label="What is fine" />
        </details>
      )}
    </>
  );
}

function Rows({ checks, view, label }: { checks: readonly StartCheck[]; view: FormView; label: string }) {
  return (
    <ul class="start-check-rows" aria-label={label}>
      {checks.map((check) => (
        <li key={check.name}>
          <span class={`start-check-state ${check.state}`} title={check.state}>
            <Icon name={ICONS[check.state]} />
            <span class="visually-hidden">{check.state}:</span>
          </span>
          <div class="small">
            <b>{LABELS[check.name]}</b>
            {check.path && (
              <button type="button" class="link-button tiny" onClick={() => view.reveal(check.path)}>
                go to it
              </button>
            )}
            <p>
              <Coded text={check.text} />
            </p>
            {check.remedy && (
              <p class="muted">
                <Coded text={check.remedy} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
