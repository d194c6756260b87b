/** One unit of work per painted frame, however many messages arrive in between. */

const HIDDEN_TAB_DELAY_MILLISECONDS = 500;

/** Returns a function that asks for `work` in the next frame; asking again before it runs changes nothing.
 * A hidden tab paints no frames, so there a timer stands in: its data must not pile up until it is shown. */
export function oncePerFrame(work: () => void): () => void {
  let asked = false;
  const run = () => {
    asked = false;
    work();
  };
  return () => {
    if (asked) return;
    asked = true;
    if (document.hidden) setTimeout(run, HIDDEN_TAB_DELAY_MILLISECONDS);
    else requestAnimationFrame(run);
  };
}

/** Returns a function that calls `work` with the latest argument once calls have been quiet for `milliseconds`. */
export function debounced<T>(work: (argument: T) => void, milliseconds: number): (argument: T) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (argument) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(argument), milliseconds);
  };
}
