import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditRow } from "../../api/schema.ts";
import { attributes, textOf } from "../../testing/markup.ts";
import { AuditTable } from "./audit_page.tsx";

const row = (fields: Partial<AuditRow> = {}): AuditRow => ({
  id: 1,
  at: "2026-01-01T00:00:00Z",
  actor: "alice",
  by_service_account: false,
  token_key: "",
  action: "gpu.drain",
  object_type: "gpu",
  object_id: "7",
  object_name: "GPU-a",
  project_id: null,
  project_name: "",
  request_id: "0123456789abcdef",
  changes: { reason: "new fans" },
  ...fields,
});
const table = (...rows: AuditRow[]) => <AuditTable rows={rows} onFilter={() => undefined} />;

test("a row says who did what to what, why, and by which request", () => {
  const text = textOf(table(row()));
  assert.match(text, /alice gpu\.drain GPU-a – reason: new fans 01234567$/);
  assert.deepEqual(attributes(table(row()), "href"), ["/pool/gpus/7"]);
});

test("a token is named, and a project that is gone is called deleted", () => {
  const text = textOf(table(row({ token_key: "abc", project_id: "p", object_type: "secret" })));
  assert.match(text, /alice by token abc gpu\.drain GPU-a deleted/);
});
