/** Webhooks of a project or of the pool: made with a secret that is shown once, tested, switched off and on. */

import { useState } from "preact/hooks";
import { api } from "../../api/endpoints.ts";
import type { NewWebhook, Webhook } from "../../api/schema.ts";
import { seconds } from "../../base/clock.ts";
import { ago, duration, unixSeconds } from "../../base/format.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { useResource } from "../../ui/resource.ts";
import { SecretOnce } from "../../ui/secret_once.tsx";
import { Failed } from "../../ui/states.tsx";
import { attempt } from "../../ui/toasts.tsx";
import { Deliveries } from "./deliveries.tsx";
import { RotateSecret } from "./rotate_secret.tsx";
import { FORM_WORDS, WebhookForm } from "./webhook_form.tsx";

/** `project`: null for the pool's. */
export function Webhooks({ project }: { project: string | null }) {
  const webhooks = useResource(() => api.webhooks(project), [project]);
  const [secret, setSecret] = useState<string | null>(null);
  const [opened, setOpened] = useState<Webhook | null>(null);
  const [toRotate, setToRotate] = useState<Webhook | null>(null);
  const [toDelete, setToDelete] = useState<Webhook | null>(null);
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) webhooks.reload();
  };
  const create = (wanted: NewWebhook) =>
    attempt(async () => {
      const made = await api.createWebhook(wanted);
      if (made.form === "standard") setSecret(made.secret);
      webhooks.reload();
    }, `Webhook “${wanted.name}” made: send it a test.`);
  const test = async (webhook: Webhook) => {
    if (await attempt(() => api.testWebhook(webhook.id))) setOpened(webhook);
  };
  const rotate = (webhook: Webhook, overlapHours: number) =>
    attempt(async () => {
      setSecret((await api.rotateWebhookSecret(webhook.id, overlapHours)).secret);
      webhooks.reload();
    }, `${webhook.name} has a new secret.`);
  const rows = webhooks.value ?? [];
  return (
    <details>
      <summary class="small">
        Webhooks <span class="muted num">{rows.length}</span>
      </summary>
      <div class="stack-s">
        <p class="small muted">
          Tell a chat, a mailbox or a service of yours what happens {project === null ? "to the pool" : "here"}. Tried
          again for a day where nobody answers.
        </p>
        {webhooks.error !== null && <Failed message={webhooks.error} onRetry={webhooks.reload} />}
        {rows.map((webhook) => (
          <WebhookRow
            key={webhook.id}
            webhook={webhook}
            onTest={() => void test(webhook)}
            onOpen={() => setOpened(webhook)}
            onSwitch={() =>
              void change(
                () => api.changeWebhook(webhook.id, { is_active: !webhook.is_active }),
                `${webhook.name} is ${webhook.is_active ? "off" : "on"}.`,
              )
            }
            onRotate={() => setToRotate(webhook)}
            onDelete={() => setToDelete(webhook)}
          />
        ))}
        {secret !== null && (
          <SecretOnce
            secret={secret}
            text="Copy it now: the secret that signs its messages is shown this once."
            copy="Copy the secret"
            onDone={() => setSecret(null)}
          />
        )}
        <WebhookForm project={project} onCreate={create} />
      </div>
      {opened && (
        <Deliveries
          webhook={opened}
          onClose={() => {
            setOpened(null);
            webhooks.reload();
          }}
        />
      )}
      {toRotate && (
        <RotateSecret
          webhook={toRotate}
          onConfirm={(overlapHours) => void rotate(toRotate, overlapHours)}
          onClose={() => setToRotate(null)}
        />
      )}
      {toDelete && (
        <Confirm
          title={`Delete ${toDelete.name}?`}
          text="Its deliveries are deleted too, and what waits is not sent."
          action="Delete"
          onConfirm={() => void change(() => api.deleteWebhook(toDelete.id), `${toDelete.name} was deleted.`)}
          onClose={() => setToDelete(null)}
        />
      )}
    </details>
  );
}

interface RowProps {
  readonly webhook: Webhook;
  readonly onTest: () => void;
  readonly onOpen: () => void;
  readonly onSwitch: () => void;
  readonly onRotate: () => void;
  readonly onDelete: () => void;
}

function WebhookRow({ webhook, onTest, onOpen, onSwitch, onRotate, onDelete }: RowProps) {
  return (
    <article class="setting-row" aria-label={webhook.name}>
      <div class="setting-row-what">
        <div class="row">
          <b>{webhook.name}</b>
          <span class="tag">{FORM_WORDS[webhook.form]}</span>
          <Health webhook={webhook} />
          <FormerSecret webhook={webhook} />
        </div>
        <div class="mono small muted setting-row-address" title={webhook.address}>
          {webhook.address}
        </div>
        <div class="small faint">{webhook.events.join(", ")}</div>
      </div>
      <div class="row">
        <button type="button" class="button small" onClick={onTest}>
          Send a test
        </button>
        <button type="button" class="button small" onClick={onOpen}>
          Deliveries
        </button>
        <button type="button" class="button small" onClick={onSwitch}>
          {webhook.is_active ? "Switch off" : "Switch on"}
        </button>
        {webhook.form === "standard" && (
          <button type="button" class="button small" onClick={onRotate}>
            New secret
          </button>
        )}
        <button type="button" class="button small danger" onClick={onDelete}>
          Delete
        </button>
      </div>
    </article>
  );
}

/** For how long the secret before signs too; nothing where it does not. */
function FormerSecret({ webhook }: { webhook: Webhook }) {
  const until = unixSeconds(webhook.former_secret_until);
  return until === null || until <= seconds.value ? null : (
    <span class="small muted">former secret ends in {duration(until - seconds.value)}</span>
  );
}

/** Whether its messages arrive; nothing where they do. */
function Health({ webhook }: { webhook: Webhook }) {
  if (!webhook.is_active)
    return <span class="small webhook-off">off{webhook.off_reason && `: ${webhook.off_reason}`}</span>;
  const since = unixSeconds(webhook.failing_since);
  return since === null ? null : (
    <span class="small webhook-failing">nothing got through since {ago(seconds.value - since)}</span>
  );
}
