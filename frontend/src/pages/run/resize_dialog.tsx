/** The dialog in which a run is resized: a role for each of its lanes, free lanes to add, and what it will cost. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { ResizeRequest, RunSize } from "../../api/schema.ts";
import { duration } from "../../base/format.ts";
import { progressText } from "../../base/resize_words.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import type { RunProps } from "./context.ts";
import {
  changesGang,
  choiceOf,
  freeKey,
  isEmpty,
  type LaneChoice,
  NO_CHOICES,
  type ResizeChoices,
  requestOf,
  rolesAfter,
} from "./resize_model.ts";

interface Props extends RunProps {
  readonly onResize: (request: ResizeRequest) => void;
  readonly onClose: () => void;
}

export function ResizeDialog({ store, run, onResize, onClose }: Props) {
  const size = useResource(() => api.size(run.id), [run.id, store.sizeVersion.value]);
  return (
    <Dialog title={`Resize “${run.name}”`} wide onClose={onClose}>
      {size.error !== null && <Failed message={size.error} onRetry={size.reload} />}
      {size.value === undefined && size.error === null && <Loading />}
      {size.value && <ResizeForm size={size.value} onResize={onResize} onClose={onClose} />}
    </Dialog>
  );
}

interface FormProps extends Pick<Props, "onResize" | "onClose"> {
  readonly size: RunSize;
}

export function ResizeForm({ size, onResize, onClose }: FormProps) {
  const [choices, setChoices] = useState<ResizeChoices>(NO_CHOICES);
  const request = requestOf(size, choices);
  const open = size.resizes.find(({ ended_at }) => ended_at === null);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onClose();
    onResize(request);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <LaneChoices size={size} choices={choices} onChange={setChoices} />
      <FreeChoices size={size} choices={choices} onChange={setChoices} />
      <p class="small">
        {isEmpty(request) ? "Choose what is to change." : `${afterText(size, choices)} ${costText(size, request)}`}
      </p>
      {open && (
        <p class="small" role="status">
          A resize is under way{open.lanes.length > 0 && `: ${progressText(open.lanes)}`}. The next one can begin when
          it has ended.
        </p>
      )}
      <div class="row" style={{ justifyContent: "flex-end" }}>
        <button type="button" class="button" onClick={onClose}>
          Leave it as it is
        </button>
        <button type="submit" class="button primary" disabled={isEmpty(request) || open !== undefined}>
          Resize
        </button>
      </div>
    </form>
  );
}

interface ChoiceProps {
  readonly size: RunSize;
  readonly choices: ResizeChoices;
  readonly onChange: (choices: ResizeChoices) => void;
}

function LaneChoices({ size, choices, onChange }: ChoiceProps) {
  const choose = (lane: string, choice: LaneChoice) =>
    onChange({ ...choices, lanes: new Map(choices.lanes).set(lane, choice) });
  return (
    <div class="table-wrap resize-lanes">
      <table>
        <thead>
          <tr>
            <th>Lane</th>
            <th>From now on</th>
          </tr>
        </thead>
        <tbody>
          {size.lanes.map((lane) => (
            <tr key={lane.lane}>
              <td>
                {lane.lane}
                <p class="tiny muted">
                  {lane.device || "unknown device"} on {lane.node}
                </p>
              </td>
              <td>
                <select
                  class="input"
                  aria-label={`${lane.lane} from now on`}
                  value={choiceOf(choices, lane)}
                  onChange={(event) => choose(lane.lane, event.currentTarget.value as LaneChoice)}
                >
                  {size.roles.map((role) => (
                    <option key={role} value={role}>
                      {role === lane.role ? `${role} (as now)` : role}
                    </option>
                  ))}
                  <option value="release">released</option>
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FreeChoices({ size, choices, onChange }: ChoiceProps) {
  if (size.free.length === 0) return <p class="small muted">No lane of the pool is free to be added.</p>;
  return (
    <fieldset class="resize-add">
      <legend>Add free lanes of the pool</legend>
      {size.free.map((free) => (
        <label key={freeKey(free)} class="field">
          <span>
            as {free.role}, on {free.device || "unknown devices"} ({free.number} free)
          </span>
          <input
            class="input"
            type="number"
            min={0}
            max={free.number}
            value={choices.added.get(freeKey(free)) ?? 0}
            onInput={(event) => {
              const number = Math.max(0, Math.min(free.number, Math.floor(event.currentTarget.valueAsNumber || 0)));
              onChange({ ...choices, added: new Map(choices.added).set(freeKey(free), number) });
            }}
          />
        </label>
      ))}
    </fieldset>
  );
}

function afterText(size: RunSize, choices: ResizeChoices): string {
  const counts = [...rolesAfter(size, choices)].filter(([, number]) => number > 0);
  return `The run then has ${counts.map(([role, number]) => `${number} ${role} lane${number === 1 ? "" : "s"}`).join(", ")}.`;
}

function costText(size: RunSize, request: ResizeRequest): string {
  if (!changesGang(size, request)) {
    return "Rollout and reward lanes join and leave between fragments: training goes on, and nothing is generated twice.";
  }
  const waits =
    "Other lanes will train, so the run writes a checkpoint at the end of the batch and its trainer lanes start anew";
  const { trainer_change_seconds: seconds, is_trainer_change_measured: isMeasured } = size;
  if (seconds === null) return `${waits}. How long training stands still is not measured yet.`;
  return `${waits}: training stands still for ${isMeasured ? "about" : "at least"} ${duration(seconds)}, as measured so far.`;
}
