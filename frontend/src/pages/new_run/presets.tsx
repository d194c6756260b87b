/** Ready specs to start from: those of local models as cards, those of hub models in a table. */

import type { Preset, Tuning } from "../../api/schema.ts";
import { type Column, presetTable } from "./preset_table.ts";

type PresetsProps = { presets: readonly Preset[]; chosen: string | null; choose: (preset: Preset) => void };

export function Presets({ presets, chosen, choose }: PresetsProps) {
  const ofHub = presets.filter(isOfHub);
  return (
    <div class="presets" role="group" aria-label="Presets">
      {presets
        .filter((preset) => !isOfHub(preset))
        .map((preset) => (
          <button
            key={preset.name}
            type="button"
            class="preset"
            aria-pressed={chosen === preset.name}
            onClick={() => choose(preset)}
          >
            <b>{preset.title}</b>
            <span class="small muted">{preset.description}</span>
          </button>
        ))}
      {ofHub.length > 0 && <HubPresets presets={ofHub} chosen={chosen} choose={choose} />}
    </div>
  );
}

const WAYS: Record<Tuning, string> = { lora: "LoRA", full: "All weights" };

function HubPresets({ presets, chosen, choose }: PresetsProps) {
  const { columns, rows } = presetTable(presets);
  const current = presets.find((preset) => preset.name === chosen);
  const ways = [...new Set(columns.map((column) => column.tuning))];
  return (
    <details class="hub-presets" open={current !== undefined || undefined}>
      <summary>
        Models of the hub: {rows.length} models, {presets.length} presets
      </summary>
      <div class="table-wrap">
        <table class="preset-table">
          <thead>
            <tr>
              <th scope="col">Model</th>
              {ways.map((tuning) => (
                <th
                  key={tuning}
                  scope="colgroup"
                  class="way"
                  colSpan={columns.filter((column) => column.tuning === tuning).length}
                >
                  {WAYS[tuning]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ model, cells }) => (
              <tr key={model}>
                <th scope="row">{model}</th>
                {cells.map((found, index) => (
                  <td
                    key={index}
                    class={startsWay(columns, index) ? "way" : ""}
                    data-way={WAYS[columns[index]?.tuning ?? "lora"]}
                  >
                    {found.map((preset) => (
                      <button
                        key={preset.name}
                        type="button"
                        class="button small"
                        aria-pressed={chosen === preset.name}
                        aria-label={preset.title}
                        title={preset.description}
                        onClick={() => choose(preset)}
                      >
                        {gpusInWords(columns[index]?.numGpus ?? 0)}
                      </button>
                    ))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="small muted" aria-live="polite">
        {current ? (
          <>
            <b>{current.title}.</b> {current.description}
          </>
        ) : (
          "Weights are downloaded by the lanes when a run starts."
        )}
      </p>
    </details>
  );
}

const startsWay = (columns: readonly Column[], index: number) =>
  index === 0 || columns[index]?.tuning !== columns[index - 1]?.tuning;
const gpusInWords = (number: number) => `${number} ${number === 1 ? "GPU" : "GPUs"}`;

/** Hub ids are `org/name`; the path of a model below a root of ours has no slash in presets. */
function isOfHub(preset: Preset): boolean {
  return preset.spec.base_model.path.includes("/");
}
