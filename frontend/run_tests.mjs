/** Runs every compiled unit test in one process, each file as a suite of its own, so that its hooks are its own. A
 * process for each of the files took three times the processor time. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { pathToFileURL } from "node:url";

const FOLDER = join(import.meta.dirname, "build/unit");

const files = readdirSync(FOLDER, { recursive: true }).filter((file) => file.endsWith(".test.js"));
if (files.length === 0) throw new Error(`no test in ${FOLDER}: compile them first, with tsc -p tsconfig.test.json`);
for (const file of files.sort()) {
  describe(file, async () => {
    await import(pathToFileURL(join(FOLDER, file)).href);
  });
}
