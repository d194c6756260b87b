/** The settings that a replay may change; an empty choice stays as it was. */

import type { Run } from "../../api/schema.ts";
import { AS_IT_WAS, type Chosen, wasSet } from "./replay_words.ts";

interface Setting {
  readonly key: keyof Chosen;
  readonly label: string;
  /** Values with their words; a number is typed where there are none. */
  readonly choices?: readonly (readonly [string, string])[];
  readonly min?: number;
}

const ON_OFF = [
  ["true", "on"],
  ["false", "off"],
] as const;

const GROUPS: readonly { readonly title: string; readonly settings: readonly Setting[] }[] = [
  {
    title: "Schedule",
    settings: [
      {
        key: "placement",
        label: "Placement",
        choices: [
          ["colocated", "colocated"],
          ["disaggregated", "disaggregated"],
        ],
      },
      { key: "gap", label: "Train groups as they complete", choices: ON_OFF },
      { key: "tsp", label: "Spread denoising steps over ranks", choices: ON_OFF },
      {
        key: "tag",
        label: "Lend trainer lanes",
        choices: [
          ["off", "off"],
          ["greedy", "greedy"],
          ["search", "search"],
        ],
      },
      {
        key: "max_staleness",
        label: "Staleness allowed",
        choices: [
          ["0", "0"],
          ["1", "1"],
        ],
      },
      { key: "fragment_size", label: "Fragment", min: 1 },
    ],
  },
  {
    title: "Lanes",
    settings: [
      { key: "num_rollout", label: "Rollout lanes", min: 0 },
      { key: "num_trainer", label: "Trainer lanes", min: 1 },
      { key: "num_reward", label: "Reward lanes", min: 1 },
      {
        key: "device",
        label: "Hardware",
        choices: [
          ["l40s", "L40S"],
          ["h20", "H20"],
          ["h100", "H100"],
          ["h200", "H200"],
          ["cpu", "CPU core"],
        ],
      },
    ],
  },
];

/** By setting, what the form calls it. */
export const LABELS = Object.fromEntries(
  GROUPS.flatMap(({ settings }) => settings.map(({ key, label }) => [key, label])),
) as Chosen;

interface Props {
  readonly run: Run;
  readonly chosen: Chosen;
  readonly onChoose: (chosen: Chosen) => void;
  readonly isBusy: boolean;
  readonly onReplay: () => void;
}

export function SettingChoices({ run, chosen, onChoose, isBusy, onReplay }: Props) {
  const was = wasSet(run.spec);
  const submit = (event: Event) => {
    event.preventDefault();
    onReplay();
  };
  const hasChoice = Object.values(chosen).some((text) => text !== "");
  return (
    <form class="card stack replay-settings" aria-label="Settings of the replay" onSubmit={submit}>
      {GROUPS.map(({ title, settings }) => (
        <fieldset key={title} class="stack-s">
          <legend>{title}</legend>
          {settings.map((setting) => (
            <div key={setting.key} class="field">
              <label for={`replay-${setting.key}`}>{setting.label}</label>
              <Input
                setting={setting}
                was={was[setting.key]}
                value={chosen[setting.key]}
                onInput={(text) => onChoose({ ...chosen, [setting.key]: text })}
              />
            </div>
          ))}
        </fieldset>
      ))}
      <div class="row">
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? "Replaying…" : "Replay"}
        </button>
        <button type="button" class="button quiet" disabled={!hasChoice} onClick={() => onChoose(AS_IT_WAS)}>
          As it ran
        </button>
      </div>
    </form>
  );
}

function Input(props: { setting: Setting; was: string; value: string; onInput: (text: string) => void }) {
  const { setting, was, value, onInput } = props;
  if (!setting.choices) {
    return (
      <input
        id={`replay-${setting.key}`}
        type="number"
        min={setting.min}
        placeholder={`as it was: ${was}`}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    );
  }
  return (
    <select id={`replay-${setting.key}`} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
      <option value="">as it was: {was}</option>
      {setting.choices.map(([choice, words]) => (
        <option key={choice} value={choice}>
          {words}
        </option>
      ))}
    </select>
  );
}
