/** A mirror to make: which tool, where in it, and for which runs. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { type MirrorKind, mirrorKindValues, type NewMirror } from "../../api/schema.ts";
import { KIND_WORDS } from "../../base/mirror_words.ts";

interface KindFields {
  /** What stands in the empty input of its address; null for folders, which have none. */
  readonly address: string | null;
  readonly needsAddress: boolean;
  readonly place: string;
  readonly placeholder: string;
  /** What the credential is called; null for none. */
  readonly credential: string | null;
}

const FOLDER: KindFields = {
  address: null,
  needsAddress: false,
  place: "Folder",
  placeholder: "shapes",
  credential: null,
};
const FIELDS: Readonly<Record<MirrorKind, KindFields>> = {
  wandb: {
    address: "https://… of a server of your own; empty: W&B’s",
    needsAddress: false,
    place: "Project, or entity/project",
    placeholder: "team/shapes",
    credential: "API key",
  },
  wandb_offline: FOLDER,
  mlflow: {
    address: "https://… of the tracking server",
    needsAddress: true,
    place: "Experiment",
    placeholder: "Shapes",
    credential: "Token, or user:password",
  },
  tensorboard: FOLDER,
};

/** The body of what the form holds. */
export function mirrorFrom(form: FormData, project: string): NewMirror {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  return {
    project,
    name: text("name"),
    kind: mirrorKindValues.find((kind) => kind === form.get("kind")) ?? "wandb",
    address: text("address"),
    place: text("place"),
    credential: text("credential"),
    is_for_every_run: form.has("is_for_every_run"),
  };
}

interface Props {
  readonly project: string;
  readonly onCreate: (mirror: NewMirror) => Promise<boolean>;
}

export function MirrorForm({ project, onCreate }: Props) {
  const [kind, setKind] = useState<MirrorKind>("wandb");
  /** Each mirror gets a fresh form. */
  const [round, setRound] = useState(0);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!(await onCreate(mirrorFrom(new FormData(event.currentTarget), project)))) return;
    setKind("wandb");
    setRound((before) => before + 1);
  };
  const fields = FIELDS[kind];
  const choose = (text: string) => setKind(mirrorKindValues.find((one) => one === text) ?? "wandb");
  return (
    <form key={round} class="stack-s" aria-label="Make a mirror" onSubmit={(event) => void submit(event)}>
      <div class="inline-form">
        <label class="field">
          <span>Name</span>
          <input name="name" required maxLength={64} pattern="[a-z0-9][a-z0-9_\-]*" placeholder="papers" />
        </label>
        <label class="field">
          <span>Tool</span>
          <select name="kind" value={kind} onChange={(event) => choose(event.currentTarget.value)}>
            {mirrorKindValues.map((one) => (
              <option key={one} value={one}>
                {KIND_WORDS[one]}
              </option>
            ))}
          </select>
        </label>
        {fields.address !== null && (
          <label class="field">
            <span>URL</span>
            <input
              name="address"
              type="url"
              required={fields.needsAddress}
              maxLength={500}
              placeholder={fields.address}
            />
          </label>
        )}
        <label class="field">
          <span>{fields.place}</span>
          <input name="place" required maxLength={200} placeholder={fields.placeholder} />
        </label>
        {fields.credential !== null && (
          <label class="field">
            <span>{fields.credential}</span>
            <input name="credential" type="password" autocomplete="off" maxLength={2000} />
          </label>
        )}
      </div>
      <label class="check">
        <input type="checkbox" name="is_for_every_run" defaultChecked />
        <span>For every run; otherwise for those whose spec names it</span>
      </label>
      <div>
        <button type="submit" class="button">
          Create mirror
        </button>
      </div>
    </form>
  );
}
