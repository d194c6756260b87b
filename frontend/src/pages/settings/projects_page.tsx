/** Projects and who may do what in them: viewers look, editors run, owners also choose members. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { Member, Project, ProjectRole } from "../../api/schema.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { Mirrors } from "./mirrors.tsx";
import { RoleChoice } from "./role_choice.tsx";
import { Secrets } from "./secrets.tsx";
import { ServiceAccounts } from "./service_accounts.tsx";
import { Webhooks } from "./webhooks.tsx";

export function ProjectsPage() {
  const projects = useResource(api.projects, []);
  const me = useResource(api.me, []).value;
  const create = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name")).trim();
    if (await attempt(() => api.createProject(name), `Project “${name}” made.`)) {
      form.reset();
      projects.reload();
    }
  };
  return (
    <div class="stack">
      <h1>Projects and members</h1>
      <form class="card inline-form" aria-label="Make a project" onSubmit={(event) => void create(event)}>
        <label class="field">
          <span>New project</span>
          <input name="name" required maxLength={100} placeholder="Name" />
        </label>
        <button type="submit" class="button primary">
          Create project
        </button>
      </form>
      {projects.error !== null && <Failed message={projects.error} onRetry={projects.reload} />}
      {projects.value === undefined && projects.error === null && <Loading />}
      {projects.value?.length === 0 && (
        <Empty title="You are in no project yet">Make one above, or ask an owner to add you.</Empty>
      )}
      {(projects.value ?? []).map((project) => (
        <ProjectCard key={project.id} project={project} />
      ))}
      {(me?.is_pool_admin || me?.is_superuser) && (
        <section class="card stack" aria-label="The pool">
          <h2>The pool</h2>
          {me.is_superuser && <ServiceAccounts project={null} onChange={() => undefined} />}
          <Webhooks project={null} />
        </section>
      )}
    </div>
  );
}

function ProjectCard({ project }: { project: Project }) {
  const members = useResource(() => api.members(project.id), [project.id]);
  const [role, setRole] = useState<ProjectRole>("editor");
  const owner = project.role === "owner";
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) members.reload();
  };
  const add = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const username = String(new FormData(form).get("username")).trim();
    await change(() => api.addMember(project.id, username, role), `${username} is now ${role}.`);
    form.reset();
  };
  return (
    <section class="card stack" aria-label={project.name}>
      <div class="row-between">
        <h2>{project.name}</h2>
        <span class="row">
          <span class="tag">you are {project.role}</span>
          <a class="small" href={`/runs?project=${project.id}`}>
            Its runs
          </a>
        </span>
      </div>
      {members.error !== null && <Failed message={members.error} onRetry={members.reload} />}
      {members.value === undefined && members.error === null && <Loading />}
      {members.value && (
        <div class="table-wrap">
          <table>
            <thead>
              <tr>
                <th>Member</th>
                <th>Role</th>
                <th />
              </tr>
            </thead>
            <tbody>
              {members.value.map((member) => (
                <MemberRow
                  key={member.id}
                  member={member}
                  owner={owner}
                  onRole={(next) =>
                    void change(() => api.setRole(project.id, member.id, next), `${member.username} is now ${next}.`)
                  }
                  onRemove={() =>
                    void change(() => api.removeMember(project.id, member.id), `${member.username} was removed.`)
                  }
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {owner && (
        <form class="inline-form" onSubmit={(event) => void add(event)}>
          <label class="field">
            <span>Add a member by user name</span>
            <input name="username" required />
          </label>
          <label class="field">
            <span>Role</span>
            <RoleChoice role={role} onChange={setRole} />
          </label>
          <button type="submit" class="button">
            Add
          </button>
        </form>
      )}
      <Mirrors project={project} owner={owner} />
      <Secrets project={project} owner={owner} />
      {owner && <ServiceAccounts project={project.id} onChange={members.reload} />}
      {owner && <Webhooks project={project.id} />}
    </section>
  );
}

function MemberRow(props: {
  member: Member;
  owner: boolean;
  onRole: (role: ProjectRole) => void;
  onRemove: () => void;
}) {
  const { member, owner } = props;
  /** Their roles are changed elsewhere: at the provider, and below among the service accounts. */
  const byOthers = member.is_mapped || member.is_service_account;
  return (
    <tr>
      <td>
        <b>{member.username}</b>
        {member.is_service_account && <span class="tag">service account</span>}
      </td>
      <td>
        {owner && !byOthers ? (
          <RoleChoice
            label={`Role of ${member.username}`}
            role={member.role}
            style={{ width: "auto" }}
            onChange={props.onRole}
          />
        ) : (
          <>
            {member.role} {member.is_mapped && <span class="small muted">by a group of the identity provider</span>}
          </>
        )}
      </td>
      <td class="right">
        {owner && !byOthers && (
          <button type="button" class="button small danger" onClick={props.onRemove}>
            Remove
          </button>
        )}
      </td>
    </tr>
  );
}
