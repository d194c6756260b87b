/** The audit log: who changed what, when, by which request. Pool admins read all of it, owners what concerns their
 * projects. */

import { useState } from "preact/hooks";
import { type AuditFilter, api } from "../../api/endpoints.ts";
import type { AuditRow } from "../../api/schema.ts";
import { readQuery, writeQuery } from "../../base/address.ts";
import { clock, unixSeconds } from "../../base/format.ts";
import { usePages } from "../../ui/more.ts";
import { useResource } from "../../ui/resource.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { changesText, linkOf } from "./audit_words.ts";

const FIELDS = [
  { name: "actor", label: "Who", placeholder: "user name" },
  { name: "action", label: "Action", placeholder: "such as gpu. or run.create" },
  { name: "object_type", label: "Object", placeholder: "such as gpu, run" },
  { name: "object_id", label: "Object's id", placeholder: "" },
  { name: "token_key", label: "Token", placeholder: "its first characters" },
  { name: "request_id", label: "Request", placeholder: "X-Request-ID" },
] as const;
type FieldName = (typeof FIELDS)[number]["name"];
const TIMES = [
  { name: "since", label: "From" },
  { name: "until", label: "Before" },
] as const;

export function AuditPage() {
  const [filter, setFilter] = useState<AuditFilter>(() => fromQuery(readQuery()));
  const me = useResource(api.me, []);
  const { rows, first, more } = usePages((cursor) => api.audit(filter, cursor), [JSON.stringify(filter)]);
  const show = (next: AuditFilter) => {
    setFilter(next);
    writeQuery({ ...next });
  };
  return (
    <>
      <div class="page-head">
        <h1>Audit log</h1>
        {me.value && (
          <span class="small muted">
            {me.value.is_pool_admin || me.value.is_superuser
              ? "Everything that somebody changed in this installation"
              : "What somebody changed in the projects that you own"}
          </span>
        )}
      </div>
      <FilterForm key={JSON.stringify(filter)} filter={filter} onSubmit={show} />
      {first.error !== null && <Failed message={first.error} onRetry={first.reload} />}
      {first.value === undefined && first.error === null && <Loading label="Loading the audit log" />}
      {first.value && rows.length === 0 && (
        <Empty title="No row">
          None matches, or you own no project: the log of a project is read by its owners, all of it by pool admins.
        </Empty>
      )}
      {rows.length > 0 && (
        <section class="card flush" aria-label="Changes">
          <AuditTable rows={rows} onFilter={(name, value) => show({ ...filter, [name]: value })} />
          {more && (
            <p class="card-foot">
              <button type="button" class="button small" onClick={() => void more()}>
                Show earlier ones
              </button>
            </p>
          )}
        </section>
      )}
    </>
  );
}

function fromQuery(query: Readonly<Record<string, string>>): AuditFilter {
  const names = [...FIELDS, ...TIMES].map(({ name }) => name);
  return Object.fromEntries(Object.entries(query).filter(([name]) => (names as string[]).includes(name)));
}

/** What is typed counts once it is sent, so that the log is not read with every key. */
function FilterForm({ filter, onSubmit }: { filter: AuditFilter; onSubmit: (next: AuditFilter) => void }) {
  const submit = (form: HTMLFormElement) => {
    const given = [...new FormData(form)].flatMap(([name, value]) => {
      const text = String(value).trim();
      const isTime = TIMES.some((time) => time.name === name);
      return text === "" ? [] : [[name, isTime ? new Date(text).toISOString() : text] as const];
    });
    onSubmit(Object.fromEntries(given));
  };
  return (
    <form
      class="audit-filters"
      role="search"
      aria-label="Filter the audit log"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      {FIELDS.map(({ name, label, placeholder }) => (
        <label key={name} class="small muted">
          {label}
          <input type="text" name={name} defaultValue={filter[name] ?? ""} placeholder={placeholder} />
        </label>
      ))}
      {TIMES.map(({ name, label }) => (
        <label key={name} class="small muted">
          {label}
          <input class="input" type="datetime-local" name={name} defaultValue={localTime(filter[name])} />
        </label>
      ))}
      <span class="row">
        <button type="submit" class="button primary">
          Filter
        </button>
        <button type="button" class="button" onClick={() => onSubmit({})}>
          Show all
        </button>
      </span>
    </form>
  );
}

/** An ISO time as an input of local time takes it. */
function localTime(iso: string | undefined): string {
  const unix = unixSeconds(iso);
  if (unix === null) return "";
  const zone = new Date(unix * 1000).getTimezoneOffset() * 60;
  return new Date((unix - zone) * 1000).toISOString().slice(0, 16);
}

interface TableProps {
  readonly rows: readonly AuditRow[];
  /** A value of a row was chosen to filter by. */
  readonly onFilter: (name: FieldName, value: string) => void;
}

export function AuditTable({ rows, onFilter }: TableProps) {
  const choose = (name: FieldName, value: string, text = value) => (
    <button type="button" class="link-button plain" title={`Only this: ${value}`} onClick={() => onFilter(name, value)}>
      {text}
    </button>
  );
  return (
    <div class="table-wrap">
      <table class="audit-table">
        <thead>
          <tr>
            <th>When</th>
            <th>Who</th>
            <th>Action</th>
            <th>Object</th>
            <th>Project</th>
            <th>What was asked</th>
            <th>Request</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const link = linkOf(row);
            return (
              <tr key={row.id}>
                <td class="num nowrap">{clock(unixSeconds(row.at))}</td>
                <td>
                  {choose("actor", row.actor)}
                  {row.by_service_account && <span class="tag">service account</span>}
                  {row.token_key && (
                    <span class="block">{choose("token_key", row.token_key, `by token ${row.token_key}`)}</span>
                  )}
                </td>
                <td>{choose("action", row.action)}</td>
                <td class="wrap">
                  {link ? <a href={link}>{row.object_name || row.object_id}</a> : row.object_name || row.object_id}
                </td>
                <td>{row.project_name || (row.project_id ? "deleted" : "–")}</td>
                <td class="wrap small muted">{changesText(row.changes)}</td>
                <td class="mono small">
                  {row.request_id && choose("request_id", row.request_id, row.request_id.slice(0, 8))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
