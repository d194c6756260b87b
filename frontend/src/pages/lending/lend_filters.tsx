/** Narrows the page to a project, a borrowing run, or a lane or GPU of the window. */

import { api, type LendFilter } from "../../api/endpoints.ts";
import { useResource } from "../../ui/resource.ts";

export interface LendChoice {
  readonly project: string;
  readonly run: string;
  readonly lane: string;
}

export const ALL_LENDS: LendChoice = { project: "", run: "", lane: "" };

/** The filters as the server takes them: what is empty filters nothing. */
export function filterOf({ project, run, lane }: LendChoice): Pick<LendFilter, "project" | "run" | "lane"> {
  return { project: project || undefined, run: run || undefined, lane: lane || undefined };
}

interface Props {
  readonly choice: LendChoice;
  /** Of the window and kind alone, so that the choices stay while one of them is made; another object is read anew. */
  readonly within: LendFilter;
  readonly onChange: (choice: LendChoice) => void;
}

export function LendFilters({ choice, within, onChange }: Props) {
  const projects = useResource(api.projects, []);
  const runs = useResource(() => api.lendSums(within, "run"), [within]);
  const lanes = useResource(() => api.lendSums(within, "lane"), [within]);
  const gpus = useResource(() => api.lendSums(within, "gpu"), [within]);
  const named = (rows: readonly { readonly key: string; readonly name: string }[] | undefined) =>
    (rows ?? []).filter(({ key }) => key !== "").map(({ key, name }) => [key, name || key] as const);
  return (
    <div class="row lend-filters">
      <Choice
        label="Project"
        all="All projects"
        value={choice.project}
        of={(projects.value ?? []).map(({ id, name }) => [id, name] as const)}
        onChange={(project) => onChange({ ...choice, project })}
      />
      <Choice
        label="Run"
        all="All runs"
        value={choice.run}
        of={named(runs.value)}
        onChange={(run) => onChange({ ...choice, run })}
      />
      <Choice
        label="Lane or GPU"
        all="All lanes and GPUs"
        value={choice.lane}
        of={[...named(lanes.value), ...named(gpus.value)]}
        onChange={(lane) => onChange({ ...choice, lane })}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string;
  readonly of: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, all, value, of, onChange }: ChoiceProps) {
  const isListed = value === "" || of.some(([known]) => known === value);
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{all}</option>
      {of.map(([known, name]) => (
        <option key={known} value={known}>
          {name}
        </option>
      ))}
      {!isListed && <option value={value}>{value}</option>}
    </select>
  );
}
