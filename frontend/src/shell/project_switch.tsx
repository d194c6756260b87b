/** The rail's project switcher. A choice that the user has lost the right to see is dropped. */

import { useEffect } from "preact/hooks";
import { api } from "../api/endpoints.ts";
import { useResource } from "../ui/resource.ts";
import { chooseProject, chosenProject } from "./project_choice.ts";

export function ProjectSwitch() {
  const projects = useResource(api.projects, []).value;
  const chosen = chosenProject.value;
  useEffect(() => {
    if (projects && chosen !== null && !projects.some(({ id }) => id === chosen)) chooseProject(null);
  }, [projects, chosen]);
  return (
    <select
      aria-label="Project shown"
      value={chosen ?? ""}
      onChange={(event) => chooseProject(event.currentTarget.value || null)}
    >
      <option value="">All my projects</option>
      {projects?.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
