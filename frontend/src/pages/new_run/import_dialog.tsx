/** The dialog in which a configuration of another trainer is turned into a spec for the form. */

import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ImportKind } from "../../api/schema.ts";
import { Segmented } from "../../ui/controls.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FieldErrors } from "../../ui/field_errors.tsx";
import { FileButton } from "../../ui/file_button.tsx";
import { Failed } from "../../ui/states.tsx";
import { ImportModel } from "./import_model.ts";
import { ImportOutcome } from "./import_outcome.tsx";

const KINDS: readonly { readonly value: ImportKind; readonly label: string }[] = [
  { value: "flow_grpo", label: "flow_grpo" },
  { value: "diffusers", label: "diffusers" },
];
const ENDINGS = ".py,.sh,.txt,.yaml,.yml,.json";
const PLACEHOLDER = `def my_recipe():
    config = base.get_config()
    …

accelerate launch train_dreambooth_lora_flux.py \\
  --rank=16 …`;

interface Props {
  readonly onImport: (runName: string, yaml: string) => void;
  readonly onClose: () => void;
}

export function ImportDialog({ onImport, onClose }: Props) {
  const model = useMemo(() => new ImportModel(), []);
  const ready = model.ready.value;
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (ready === null) return;
    onImport(model.runName, ready.yaml);
    onClose();
  };
  return (
    <Dialog title="Import from another trainer" wide onClose={onClose}>
      <form class="stack import-form" onSubmit={submit}>
        <p class="small muted">
          A file of flow_grpo’s recipes (<code>config/grpo.py</code>), or the command that started a training script of
          diffusers, or its arguments as YAML or JSON. It is read, and never run.
        </p>
        <ImportSource model={model} />
        {model.problem.value !== null && <Failed message={model.problem.value} />}
        <div aria-live="polite" aria-busy={model.isReading.value}>
          {model.found.value && <ImportOutcome found={model.found.value} />}
        </div>
        <div class="row import-end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={ready === null}>
            Fill the form
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function ImportSource({ model }: { model: ImportModel }) {
  const { kind, errors, text } = model;
  return (
    <>
      <div class="row-between">
        <div class="row">
          <Segmented
            label="Whose configuration it is"
            choices={KINDS}
            value={kind.value}
            onChange={(value) => void model.chooseKind(value)}
          />
          <FieldErrors of={errors.value.kind} />
        </div>
        <FileButton label="Open a file" accept={ENDINGS} onFile={(file) => void model.open(file)} />
      </div>
      <DropArea onFile={(file) => void model.open(file)}>
        <label class="field">
          <span>Its text: paste it, or drop a file here</span>
          <textarea
            class="mono"
            rows={8}
            spellcheck={false}
            wrap="off"
            autofocus
            placeholder={PLACEHOLDER}
            aria-invalid={errors.value.source !== undefined}
            value={text.value}
            onInput={(event) => model.edit(event.currentTarget.value)}
          />
          <FieldErrors of={errors.value.source} />
        </label>
      </DropArea>
      {kind.value === "flow_grpo" && model.functions.value.length > 0 && <Recipe model={model} />}
    </>
  );
}

/** Which of the file's functions is meant, and on how many GPUs it was run. */
function Recipe({ model }: { model: ImportModel }) {
  const { functions, functionName, numGpus, errors } = model;
  return (
    <div class="fields">
      <label class="field">
        <span>Function</span>
        <select
          value={functionName.value}
          onChange={(event) => void model.chooseFunction(event.currentTarget.value)}
          aria-invalid={errors.value.function !== undefined}
        >
          <option value="" disabled>
            Choose one of {functions.value.length}
          </option>
          {functions.value.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <FieldErrors of={errors.value.function} />
      </label>
      <label class="field">
        <span>GPUs it was run on</span>
        <input
          type="number"
          min={1}
          placeholder="its gpu_number"
          value={numGpus.value ?? ""}
          onInput={({ currentTarget: { value, valueAsNumber } }) => model.setNumGpus(value ? valueAsNumber : null)}
          aria-invalid={errors.value.num_gpus !== undefined}
        />
        <FieldErrors of={errors.value.num_gpus} />
      </label>
    </div>
  );
}

function DropArea({ onFile, children }: { onFile: (file: File) => void; children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    setOver(false);
    const file = event.dataTransfer?.files[0];
    // Text that is dragged goes into the field by the browser's own doing.
    if (!file) return;
    event.preventDefault();
    onFile(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button beside it opens a file without a mouse.
    <div
      class={`drop-area ${isOver ? "over" : ""}`}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {children}
    </div>
  );
}
