/** Ready specs to start from: models that are at hand as cards, the hub's as a row for each model. */

import type { Preset } from "../../api/types.ts";
import { getPath } from "../../base/paths.ts";

type PresetsProps = { presets: readonly Preset[]; chosen: string | null; choose: (preset: Preset) => void };

export function Presets({ presets, chosen, choose }: PresetsProps) {
  const ofHub = presets.filter(isOfHub);
  return (
    <div class="presets" role="group" aria-label="Presets">
      {presets.filter((preset) => !isOfHub(preset)).map((preset) => (
        <button key={preset.name} type="button" class="preset" aria-pressed={chosen === preset.name} onClick={() => choose(preset)}>
          <b>{preset.title}</b>
          <span class="small muted">{preset.description}</span>
        </button>
      ))}
      {ofHub.length > 0 && (
        <details class="hub-presets" open={ofHub.some((preset) => preset.name === chosen)}>
          <summary>Models of the hub: {ofHub.length} presets</summary>
          {[...byModel(ofHub)].map(([model, variants]) => (
            <p key={model}>
              <b>{model}</b>
              {variants.map((preset) => (
                <button key={preset.name} type="button" class="button small" aria-pressed={chosen === preset.name} aria-label={preset.title}
                  title={preset.description} onClick={() => choose(preset)}>{variantOf(preset.title)}</button>
              ))}
            </p>
          ))}
        </details>
      )}
    </div>
  );
}

/** Hub ids are `org/name`; the path of a model below a root of ours has no slash in presets. */
function isOfHub(preset: Preset): boolean {
  return String(getPath(preset.spec, "base_model.path") ?? "").includes("/");
}

/** By what stands before the colon of the title. */
function byModel(presets: readonly Preset[]): Map<string, Preset[]> {
  const models = new Map<string, Preset[]>();
  for (const preset of presets) {
    const model = preset.title.split(":")[0] ?? preset.title;
    models.set(model, [...(models.get(model) ?? []), preset]);
  }
  return models;
}

function variantOf(title: string): string {
  return title.split(":").slice(1).join(":").trim() || title;
}
