/** What differs from the run that this one was forked or duplicated from. */

import { differences, type Json, type JsonObject } from "../../base/paths.ts";
import type { FormView } from "./form_view.ts";

export function ParentChanges(props: { parent: JsonObject; spec: JsonObject; view: FormView }) {
  const changed = differences([props.parent, props.spec]);
  return (
    <section class="card stack-s" aria-label="Changes from the parent">
      <h3>Changes from the parent</h3>
      {changed.length === 0 && <p class="small muted">None yet: this would repeat the parent run.</p>}
      <dl class="kv">
        {changed.map(({ path, values }) => [
          <dt key={path}>
            <button type="button" class="link-button mono tiny" onClick={() => props.view.reveal(path)}>
              {path}
            </button>
          </dt>,
          <dd key={`${path}=`} class="num">
            <span class="diff-was">{text(values[0])}</span> {text(values[1])}
          </dd>,
        ])}
      </dl>
    </section>
  );
}

const text = (value: Json | undefined) =>
  Array.isArray(value) ? `${value.length} entries` : JSON.stringify(value ?? null);
