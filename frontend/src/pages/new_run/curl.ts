/** The REST call that does what the form's button does. */

import type { NewRun } from "../../api/schema.ts";

/** A shell command; single quotes inside the body are escaped the POSIX way. */
export function equivalentCurl(origin: string, body: NewRun): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return [
    `curl -X POST ${origin}/api/v1/runs`,
    `  -H "Authorization: Bearer $TANDEM_TOKEN"`,
    `  -H "Content-Type: application/json"`,
    `  -d '${json}'`,
  ].join(" \\\n");
}
