/** A webhook to make: where it tells, in which form, and of what. */

import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import {
  type HookEvent,
  hookEventValues,
  type MessageForm,
  messageFormValues,
  type NewWebhook,
} from "../../api/schema.ts";

/** Each event in words, as the form offers it. */
export const EVENT_WORDS: Readonly<Record<HookEvent, string>> = {
  "run.started": "started",
  "run.resumed": "resumed",
  "run.restarted": "restarted, its driver lost",
  "run.paused": "paused",
  "run.completed": "completed",
  "run.stopped": "stopped",
  "run.cancelled": "cancelled",
  "run.failed": "failed",
  "sweep.finished": "finished",
  "reward_hacking.suspected": "suspected",
  "reward_hacking.over": "no longer suspected",
  "budget.near": "nearly spent",
  "budget.spent": "spent",
  "gpu.faulty": "faulty",
  "gpu.lost": "lost",
  "gpu.found": "back",
  "node.lost": "lost",
  "node.found": "back",
};
const TOPICS = {
  run: "A run",
  sweep: "A sweep",
  reward_hacking: "Reward hacking",
  budget: "A budget",
  gpu: "A GPU",
  node: "A node",
};
type Topic = keyof typeof TOPICS;
/** What a new webhook tells of unless its maker chooses otherwise: what somebody may have to act on. */
const USUAL: ReadonlySet<HookEvent> = new Set<HookEvent>([
  "run.completed",
  "run.failed",
  "reward_hacking.suspected",
  "budget.spent",
  "gpu.faulty",
  "gpu.lost",
  "node.lost",
]);
export const FORM_WORDS: Readonly<Record<MessageForm, string>> = {
  standard: "Signed JSON",
  slack: "Slack",
  discord: "Discord",
  email: "E-mail",
};
const PLACEHOLDERS: Readonly<Record<MessageForm, string>> = {
  standard: "https://… of your server",
  slack: "https://… of a Slack app's incoming webhook",
  discord: "https://… of a channel's webhook",
  email: "team@example.org",
};

/** Events by what they are of: those of a project, or those of the pool. */
export function topicsOf(isPool: boolean): readonly (readonly [Topic, readonly HookEvent[]])[] {
  const topics: readonly Topic[] = isPool ? ["gpu", "node", "budget"] : ["run", "sweep", "reward_hacking", "budget"];
  return topics.map((topic) => [topic, hookEventValues.filter((event) => event.startsWith(`${topic}.`))]);
}

/** The body of what the form holds. */
export function webhookFrom(form: FormData, project: string | null): NewWebhook {
  const chosen = form.getAll("events").map(String);
  return {
    project,
    name: String(form.get("name")),
    form: messageFormValues.find((one) => one === form.get("form")) ?? "standard",
    address: String(form.get("address")).trim(),
    events: hookEventValues.filter((event) => chosen.includes(event)),
  };
}

interface Props {
  readonly project: string | null;
  readonly onCreate: (webhook: NewWebhook) => Promise<boolean>;
}

export function WebhookForm({ project, onCreate }: Props) {
  const [form, setForm] = useState<MessageForm>("standard");
  /** Each webhook gets a fresh form. */
  const [round, setRound] = useState(0);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!(await onCreate(webhookFrom(new FormData(event.currentTarget), project)))) return;
    setForm("standard");
    setRound((before) => before + 1);
  };
  const choose = (text: string) => setForm(messageFormValues.find((one) => one === text) ?? "standard");
  return (
    <form key={round} class="stack-s" aria-label="Make a webhook" onSubmit={(event) => void submit(event)}>
      <div class="inline-form">
        <label class="field">
          <span>Name</span>
          <input name="name" required maxLength={100} placeholder="team channel" />
        </label>
        <label class="field">
          <span>Form</span>
          <select name="form" value={form} onChange={(event) => choose(event.currentTarget.value)}>
            {messageFormValues.map((one) => (
              <option key={one} value={one}>
                {FORM_WORDS[one]}
              </option>
            ))}
          </select>
        </label>
        {form === "email" ? (
          <label class="field">
            <span>To</span>
            <input name="address" required type="email" maxLength={254} placeholder={PLACEHOLDERS[form]} />
          </label>
        ) : (
          <label class="field">
            <span>URL</span>
            <input name="address" required type="url" maxLength={2000} placeholder={PLACEHOLDERS[form]} />
          </label>
        )}
      </div>
      {topicsOf(project === null).map(([topic, events]) => (
        <fieldset key={topic} class="token-limits">
          <legend>{TOPICS[topic]} is</legend>
          {events.map((event) => (
            <label key={event} class="check">
              <input type="checkbox" name="events" value={event} defaultChecked={USUAL.has(event)} />
              <span>{EVENT_WORDS[event]}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <div>
        <button type="submit" class="button">
          Create webhook
        </button>
      </div>
    </form>
  );
}
