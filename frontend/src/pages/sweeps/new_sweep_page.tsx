/** A sweep to start: from a run or a preset, whose spec every run gets, from a file, or as another sweep was. The server
 * checks every point while one types. */

import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { api } from "../../api/endpoints.ts";
import type { Preset, Project, Run, Sweep } from "../../api/schema.ts";
import type { JsonObject } from "../../base/paths.ts";
import { FileButton } from "../../ui/file_button.tsx";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { PreviewPanel } from "./preview_panel.tsx";
import { RulesFields } from "./rules_fields.tsx";
import { SpaceFields } from "./space_fields.tsx";
import { draftOf, draftOfPlan, planOf, type SweepDraft } from "./sweep_draft.ts";
import { useSweepPreview } from "./sweep_preview.ts";

interface Ready {
  readonly projects: readonly Project[];
  readonly presets: readonly Preset[];
  readonly parent: Run | null;
  /** The sweep that is run again. */
  readonly again: Sweep | null;
}

interface Origin {
  /** A run. */
  readonly from: string | null;
  /** A sweep. */
  readonly again: string | null;
}

async function readForm({ from, again }: Origin): Promise<Ready> {
  const [projects, presets, parent, sweep] = await Promise.all([
    api.projects(),
    api.presets(),
    from === null ? null : api.getRun(from),
    again === null ? null : api.sweep(again),
  ]);
  return { projects: projects.filter(({ role }) => role !== "viewer"), presets, parent, again: sweep };
}

export function NewSweepPage({ from, again }: Origin) {
  const form = useResource(() => readForm({ from, again }), [from, again]);
  if (form.error !== null) return <Failed message={form.error} onRetry={form.reload} />;
  if (!form.value) return <Loading label="Loading the form" />;
  if (form.value.projects.length === 0) {
    return <Empty title="No project to start a sweep in">Ask an owner of a project to make you an editor.</Empty>;
  }
  return <Form {...form.value} />;
}

function Form({ projects, presets, parent, again }: Ready) {
  const [project, setProject] = useState(() => firstProject(projects, again ?? parent));
  const [draft, setDraft] = useState<SweepDraft | null>(() => firstDraft(parent, again));
  const preview = useSweepPreview(draft && { project, sweep: planOf(draft) });
  const change = (changes: Partial<SweepDraft>) => setDraft((before) => before && { ...before, ...changes });
  const readFile = async (file: File) => {
    try {
      const { plan } = await api.previewSweep({ project, sweep: await file.text() });
      setDraft(draftOfPlan(plan));
    } catch (error) {
      toast(`${file.name}: ${messageOf(error)}`, "bad");
    }
  };
  const start = async () => {
    if (!draft) return;
    try {
      const origin = again === null ? (parent?.id ?? null) : again.parent;
      const sweep = await api.createSweep({ project, sweep: planOf(draft), parent: origin });
      location.assign(`/sweeps/${sweep.id}`);
    } catch (error) {
      toast(messageOf(error), "bad");
    }
  };
  return (
    <>
      <div class="page-head">
        <h1>{again ? "Edit and run again" : "New sweep"}</h1>
        <FileButton label="Open a YAML file" accept=".yaml,.yml,.json" onFile={(file) => void readFile(file)} />
      </div>
      <div class="new-sweep">
        <div class="stack">
          <section class="card stack" aria-label="What is swept">
            <div class="fields">
              <label class="field">
                <span>Project</span>
                <select value={project} onChange={(event) => setProject(event.currentTarget.value)}>
                  {projects.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
              {draft && (
                <label class="field">
                  <span>Name</span>
                  <input
                    value={draft.name}
                    maxLength={90}
                    onInput={(event) => change({ name: event.currentTarget.value })}
                  />
                </label>
              )}
              {again || parent ? (
                <p class="field">
                  <span>Spec of every run</span>
                  {again ? (
                    <span>
                      as in <a href={`/sweeps/${again.id}`}>{again.name}</a>
                    </span>
                  ) : (
                    <a href={`/runs/${parent?.id}`}>{parent?.name}</a>
                  )}
                </p>
              ) : (
                <PresetField presets={presets} onChoose={(preset) => setDraft(draftOfPreset(preset))} />
              )}
            </div>
            {!draft && (
              <Empty title="Which spec does every run get?">
                Choose a preset above, open a file, or choose “Sweep from this run…” on the page of a run.
              </Empty>
            )}
          </section>
          {draft && <SpaceFields draft={draft} errors={preview.errors} onChange={change} />}
          {draft && <RulesFields draft={draft} errors={preview.errors} onChange={change} />}
        </div>
        {draft && <PreviewPanel draft={draft} preview={preview} onStart={start} />}
      </div>
    </>
  );
}

function firstDraft(parent: Run | null, again: Sweep | null): SweepDraft | null {
  if (again !== null) return draftOfPlan(again.plan);
  return parent && draftOf(`${parent.name} sweep`, parent.spec as unknown as JsonObject);
}

function firstProject(projects: readonly Project[], origin: Run | Sweep | null): string {
  const known = projects.find(({ id }) => id === origin?.project.id);
  return (known ?? projects[0])?.id ?? "";
}

function draftOfPreset(preset: Preset): SweepDraft {
  return draftOf(`${preset.name} sweep`, preset.spec as unknown as JsonObject);
}

function PresetField({ presets, onChoose }: { presets: readonly Preset[]; onChoose: (preset: Preset) => void }) {
  const [chosen, setChosen] = useState("");
  return (
    <label class="field">
      <span>Spec of every run</span>
      <select
        value={chosen}
        onChange={(event) => {
          const preset = presets.find(({ name }) => name === event.currentTarget.value);
          if (preset === undefined) return;
          setChosen(preset.name);
          onChoose(preset);
        }}
      >
        <option value="" disabled>
          Choose a preset
        </option>
        {presets.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
