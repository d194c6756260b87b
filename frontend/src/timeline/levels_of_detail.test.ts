import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { Timeline } from "../api/schema.ts";
import { settled } from "../testing/browser.ts";
import { span, spansItem, timeline } from "../testing/builders.ts";
import { LevelsOfDetail, NUM_SPANS, type TimelineAsked } from "./levels_of_detail.ts";

let levels: LevelsOfDetail;
let asked: TimelineAsked[];
let answer: (asked: TimelineAsked) => Timeline | Promise<Timeline>;

beforeEach(() => {
  asked = [];
  levels = new LevelsOfDetail(
    async (one) => {
      asked.push(one);
      return answer(one);
    },
    () => undefined,
  );
});

afterEach(() => levels.stop());

const EXTENT = { from: 0, to: 1000 };
const view = (from: number, to: number) => ({ from, to, follow: false });
/** Longer than the window must rest before it is read. */
const REST = 140;

/** A run of 1,000 s whose spans were merged, of which windows have spans of one second. */
function merged(): void {
  const coarse = Array.from({ length: 10 }, (_, index) =>
    span({ start: index * 100, end: index * 100 + 100, num_spans: 100 }),
  );
  answer = ({ from = 0, to = 1000 }) =>
    timeline({ stream_seq: 5, spans: Array.from({ length: to - from }, (_, index) => span({ start: from + index })) });
  levels.load(timeline({ spans: coarse, stream_seq: 5 }));
}

async function shown(from: number, to: number) {
  levels.show(view(from, to), EXTENT);
  await settled(REST);
  return levels.at(view(from, to));
}

test("a window that is zoomed to is read finer, with room to either side to pan in", async () => {
  merged();
  const { lanes } = await shown(400, 440);
  assert.deepEqual(asked, [{ from: 380, to: 460, limit: NUM_SPANS }]);
  assert.ok(lanes.spansOf("rollout-0").every((one) => one.end - one.start === 1));
  assert.notEqual(levels.at(view(385, 425)), levels.whole);
  assert.equal(levels.at(view(300, 340)), levels.whole, "that lies beyond what was read");
  await shown(390, 430);
  assert.equal(asked.length, 1, "a window within is drawn from what is there");
});

test("the whole run is drawn from what was loaded, and so is a run short enough to be exact", async () => {
  merged();
  await shown(0, 1000);
  levels.load(timeline({ spans: [span({ start: 0, end: 1000 })] }));
  await shown(400, 410);
  assert.deepEqual(asked, []);
});

test("a window whose spans were merged too is read again when it is zoomed into", async () => {
  merged();
  answer = ({ from = 0 }) => timeline({ spans: [span({ start: from, end: from + 400, num_spans: 40 })] });
  await shown(300, 500);
  await shown(390, 410);
  assert.deepEqual(
    asked.map(({ from, to }) => [from, to]),
    [
      [200, 600],
      [380, 420],
    ],
  );
});

test("a window at the run's end goes with the present, and loses nothing that came while it was read", async () => {
  merged();
  let arrive: (given: Timeline) => void = () => undefined;
  answer = () => new Promise((resolve) => (arrive = resolve));
  await shown(980, 1000);
  assert.deepEqual(asked, [{ from: 970, limit: NUM_SPANS }]);
  levels.apply(spansItem(6, [span({ start: 1000 })]));
  levels.apply(spansItem(7, [span({ start: 1001 })]));
  arrive(timeline({ stream_seq: 6, spans: [span({ start: 999 }), span({ start: 1000 })] }));
  await settled();
  levels.apply(spansItem(8, [span({ start: 1002 })]));
  const starts = levels.at(view(990, 1003)).lanes.spansOf("rollout-0");
  assert.deepEqual(
    starts.map((one) => one.start),
    [999, 1000, 1001, 1002],
  );
});

test("a window in the past takes a late report of its own time and none of the present", async () => {
  merged();
  await shown(400, 440);
  const before = levels.at(view(400, 440)).lanes.numSpans;
  levels.apply(spansItem(6, [span({ lane: "trainer-0", start: 410, end: 1000 }), span({ start: 1000 })]));
  assert.equal(levels.at(view(400, 440)).lanes.numSpans, before + 1);
});

test("a read that fails leaves what is drawn", async () => {
  merged();
  answer = () => Promise.reject(new Error("no server"));
  assert.equal(await shown(400, 440), levels.whole);
  assert.equal(asked.length, 1);
});

/** A day in which 16 lanes report a span of two seconds each, every two seconds. */
const [DAY_SECONDS, NUM_LANES, STEP] = [86_400, 16, 2];

test("a day of live spans keeps a bounded number of them, on screen or not", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let seq = 0;
  let now = 0;
  answer = ({ from = 0, to = now, limit }) => {
    const each = Math.floor(limit / NUM_LANES);
    const seconds = Math.max(STEP, (to - from) / each);
    const spans = Array.from({ length: NUM_LANES }, (_, lane) =>
      Array.from({ length: Math.floor((to - from) / seconds) }, (_, index) =>
        span({
          lane: `rollout-${lane}`,
          start: from + index * seconds,
          end: from + (index + 1) * seconds,
          num_spans: 2,
        }),
      ),
    );
    return timeline({ spans: spans.flat(), stream_seq: seq });
  };
  let most = 0;
  for (now = STEP; now <= DAY_SECONDS; now += STEP) {
    seq += 1;
    const spans = Array.from({ length: NUM_LANES }, (_, lane) =>
      span({ lane: `rollout-${lane}`, start: now - STEP, end: now }),
    );
    levels.apply(spansItem(seq, spans));
    // The page is looked at for the first half of the day, its last minute on screen.
    const screen = view(now - 60, now);
    if (now < DAY_SECONDS / 2) levels.show(screen, { from: 0, to: now });
    context.mock.timers.tick(STEP * 1000);
    if (now % 20 === 0) for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    const finer = levels.at(screen);
    most = Math.max(most, levels.whole.lanes.numSpans + (finer === levels.whole ? 0 : finer.lanes.numSpans));
  }
  assert.ok(asked.length > 10, `${asked.length} reads`);
  assert.ok(most <= 26_000, `${most} spans`);
});
