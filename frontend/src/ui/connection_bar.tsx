/** A bar across the page while its connection is lost: what is shown may be old, and it is not the run's fault. */

import { seconds } from "../base/clock.ts";
import { duration } from "../base/format.ts";
import { isLoggedOut, lostSince } from "../live/connections.ts";

/** A connection that is back sooner than this, as after a restart of the server, is no news. */
const TOLD_AFTER_SECONDS = 3;

export function ConnectionBar() {
  // The clock's tick has the age drawn again.
  void seconds.value;
  const since = lostSince.value;
  const age = since === null ? 0 : Math.floor(Date.now() / 1000 - since);
  if (isLoggedOut.value) {
    return (
      <div class="connection-bar" role="alert">
        <span>Your session has ended: nothing on this page is updated.</span>
        <a href={location.href}>Log in again</a>
      </div>
    );
  }
  if (age < TOLD_AFTER_SECONDS) return null;
  return (
    <div class="connection-bar" role="alert">
      <b>Your connection to the server is lost.</b>
      {/* Said once: a screen reader need not count. */}
      <span aria-hidden="true">
        This page is {duration(age)} old; what happens meanwhile is kept and appears as soon as the connection is back.
      </span>
    </div>
  );
}
