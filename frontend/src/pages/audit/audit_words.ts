/** Rows of the audit log as people read them. */

import type { AuditRow } from "../../api/schema.ts";

/** The page of what a row is about; null where there is none. */
export function linkOf({ object_type, object_id }: Pick<AuditRow, "object_type" | "object_id">): string | null {
  switch (object_type) {
    case "run":
      return `/runs/${object_id}`;
    case "gpu":
      return `/pool/gpus/${object_id}`;
    case "node":
    case "lane":
      return "/pool";
    case "project":
    case "membership":
      return "/projects";
    default:
      return null;
  }
}

/** The arguments of a call: `reason: new fans, role: editor`; empty ones are left out. */
export function changesText(changes: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(changes).filter(([, value]) => !isEmpty(value));
  return given.map(([name, value]) => `${name}: ${shown(value)}`).join(", ");
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
