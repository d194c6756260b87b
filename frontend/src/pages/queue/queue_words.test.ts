import assert from "node:assert/strict";
import { test } from "node:test";
import { aheadText, bandText, lanesText, overtakingText, slowDownText } from "./queue_words.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z") / 1000;
const at = (seconds: number) => new Date((NOW + seconds) * 1000).toISOString();
const band = (earliest: number, likely: number, latest: number) => ({
  earliest: at(earliest),
  likely: at(likely),
  latest: at(latest),
});

test("lanes are counted by kind, and kinds without any are left out", () => {
  assert.equal(lanesText({ gpu: 3, cpu: 1 }), "3 GPU + 1 CPU lanes");
  assert.equal(lanesText({ gpu: 1, cpu: 0 }), "1 GPU lane");
  assert.equal(lanesText({}), "no lanes");
});

test("a forecast says what is likely, and the band around it", () => {
  assert.deepEqual(bandText(band(600, 720, 1200), NOW), { likely: "in 12 min", range: "10 min to 20 min" });
  assert.deepEqual(bandText(band(0, 0, 7200), NOW), { likely: "any moment", range: "now to 2 h 0 min" });
});

test("a band that is narrow is one time, and an unknown one is none", () => {
  assert.match(bandText(band(700, 720, 740), NOW)?.range ?? "", /^at /);
  assert.equal(bandText(null, NOW), null);
});

test("who is ahead is counted with the lanes wanted, and others are not named", () => {
  const ahead = { num_runs: 3, num_runs_of_others: 2, num_other_projects: 2, lanes: { gpu: 9 } };
  assert.equal(aheadText(ahead), "3 runs ahead (2 of 2 other projects) want 9 GPU lanes");
  const one = { num_runs: 1, num_runs_of_others: 1, num_other_projects: 1, lanes: { gpu: 1 } };
  assert.equal(aheadText(one), "1 run ahead (1 of another project) wants 1 GPU lane");
  assert.equal(aheadText({ ...one, num_runs: 0 }), "");
});

test("overtaking and slow-downs are said in words", () => {
  assert.equal(overtakingText(2), "started ahead of 2 runs: it delays none of them");
  assert.equal(overtakingText(0), "");
  assert.equal(slowDownText(1.62), "a batch takes about 1.6 times as long");
  assert.equal(slowDownText(1), "as fast");
  assert.equal(slowDownText(null), "how much slower is not known");
});
