/** Beside the form: name and project, the resolved batch algebra, errors, differences from the parent, the button. */

import { useState } from "preact/hooks";
import type { Project } from "../../api/schema.ts";
import { differences, type Json, type JsonObject } from "../../base/paths.ts";
import { Coded } from "../../ui/coded.tsx";
import { CopyButton } from "../../ui/controls.tsx";
import { equivalentCurl } from "./curl.ts";
import { labelOf } from "./fields.ts";
import type { FormModel } from "./form_model.ts";
import type { SpecError } from "./validation.ts";
import { selectLine } from "./yaml_lines.ts";

export function Summary(props: {
  model: FormModel;
  projects: readonly Project[];
  start: () => Promise<string | null>;
}) {
  const { model, projects } = props;
  const [starting, setStarting] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setStarting(true);
    setError(await props.start());
    setStarting(false);
  };
  const ready = model.ok.value && model.name.value.trim() !== "" && model.project.value !== "";
  const parent = model.parent.value;
  const curl = equivalentCurl(location.origin, model.newRun);
  return (
    <aside class="summary" id="summary">
      <form class="card stack" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Name</span>
          <input
            name="name"
            required
            maxLength={120}
            value={model.name.value}
            onInput={(event) => (model.name.value = event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Project</span>
          <select
            name="project"
            value={model.project.value}
            onChange={(event) => model.chooseProject(event.currentTarget.value)}
          >
            {projects.length === 0 && <option value="">you may start runs in no project</option>}
            {projects.map((project) => (
              <option key={project.id} value={project.id}>
                {project.name}
              </option>
            ))}
          </select>
        </label>
        <Verdict model={model} />
        {error !== null && (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="button primary start" disabled={!ready || starting}>
          {starting ? "Starting…" : "Start the run"}
        </button>
      </form>
      {parent && <Changes parent={parent.spec} spec={model.spec.value} />}
      <details class="card">
        <summary class="small">The same over REST</summary>
        <div class="stack-s curl">
          <pre class="code" tabIndex={0}>
            {curl}
          </pre>
          <div class="row-between">
            <a class="small" href="/account">
              Make a token
            </a>
            <CopyButton text={curl} label="Copy the command" />
          </div>
        </div>
      </details>
    </aside>
  );
}

/** Whether the run could start now, in a few words. */
export function Readiness({ model }: { model: FormModel }) {
  const { answer, checking, problem } = model.validator;
  if (problem.value !== null) return <span class="badge lost">could not be checked</span>;
  const verdict = answer.value;
  if (!verdict || checking.value) return <span class={`badge ${verdict?.ok ? "live" : "lost"}`}>checking…</span>;
  if (verdict.ok)
    return (
      <span class={`badge ${verdict.warnings.length > 0 ? "delayed" : "live"}`}>
        {verdict.warnings.length > 0 ? "may start, with a warning" : "ready to start"}
      </span>
    );
  const number = model.validator.allErrors().length;
  return (
    <span class="badge lost">
      {number} {number === 1 ? "thing" : "things"} to put right
    </span>
  );
}

function Verdict({ model }: { model: FormModel }) {
  const { answer, problem } = model.validator;
  if (problem.value !== null)
    return (
      <p class="notice bad" role="alert">
        {problem.value}
      </p>
    );
  const verdict = answer.value;
  if (!verdict) return <p class="small muted">Checking…</p>;
  const errors = model.validator.allErrors();
  return (
    <div class="stack-s" aria-live="polite">
      <Readiness model={model} />
      {verdict.ok && verdict.algebra_text && <p class="algebra">{verdict.algebra_text}.</p>}
      {verdict.warnings.map((warning) => (
        <p key={warning} class="notice warn small">
          <span>
            <Coded text={warning} />
          </span>
        </p>
      ))}
      {errors.length > 0 && (
        <ul class="bullets small summary-errors">
          {errors.map((error) => (
            <li key={error.path + error.message}>
              <SummaryError {...error} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The message after the label of its input; a button that leads to its input, or to its line of the YAML. */
function SummaryError({ path, message, line }: SpecError) {
  const input = path ? document.getElementById(`field-${path}`) : null;
  const label = labelOf(path);
  const said = (
    <>
      {label && <b>{label}: </b>}
      <Coded text={path && !message.includes(path) ? `\`${path}\`: ${message}` : message} />
    </>
  );
  if (!input && line === null) return said;
  return (
    <button type="button" class="link-button" onClick={() => (input ? shown(input) : selectLine(line ?? 1))}>
      {line !== null && <span class="num">Line {line}: </span>}
      {said}
    </button>
  );
}

/** Scrolls to an input, whose group may be folded. */
function shown(input: HTMLElement): void {
  input.closest("details")?.setAttribute("open", "");
  input.focus();
}

function Changes({ parent, spec }: { parent: JsonObject; spec: JsonObject }) {
  const changed = differences([parent, spec]);
  const text = (value: Json | undefined) =>
    Array.isArray(value) ? `${value.length} entries` : JSON.stringify(value ?? null);
  return (
    <section class="card stack-s" aria-label="Changes from the parent">
      <h3>Changes from the parent</h3>
      {changed.length === 0 && <p class="small muted">None yet: this would repeat the parent run.</p>}
      <dl class="kv">
        {changed.map(({ path, values }) => [
          <dt key={path} class="mono">
            {path}
          </dt>,
          <dd key={`${path}=`} class="num">
            <span class="diff-was">{text(values[0])}</span> {text(values[1])}
          </dd>,
        ])}
      </dl>
    </section>
  );
}
