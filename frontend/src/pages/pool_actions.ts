/** Cordon, drain and resume on the server-rendered pool page: its forms become REST calls.
 *
 *   <form data-pool-action="/nodes/1/actions"><input name="reason"><button name="action" value="cordon">…
 */

import { API_ROOT, send } from "../api/client.ts";
import { attempt } from "../ui/toasts.tsx";

export function installPoolActions(root: Document): void {
  root.addEventListener("submit", (event) => {
    const form = event.target;
    const address = form instanceof HTMLFormElement ? form.dataset.poolAction : undefined;
    if (!(form instanceof HTMLFormElement) || !address) return;
    event.preventDefault();
    const body = Object.fromEntries(new FormData(form, event.submitter));
    void attempt(() => send("POST", API_ROOT + address, body)).then((done) => {
      if (done) location.reload();
    });
  });
}
