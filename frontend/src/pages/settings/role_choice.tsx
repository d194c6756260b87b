/** A choice of a role in a project. */

import type { CSSProperties } from "preact";
import { type ProjectRole, projectRoleValues } from "../../api/schema.ts";

interface Props {
  readonly role: ProjectRole;
  readonly onChange: (role: ProjectRole) => void;
  /** For screen readers, where no label stands around it. */
  readonly label?: string;
  readonly style?: CSSProperties;
}

export function RoleChoice({ role, onChange, label, style }: Props) {
  const choose = (text: string) => {
    const chosen = projectRoleValues.find((one) => one === text);
    if (chosen) onChange(chosen);
  };
  return (
    <select aria-label={label} value={role} style={style} onChange={(event) => choose(event.currentTarget.value)}>
      {projectRoleValues.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}
