/** A server-rendered part that stays fresh: `<div data-refresh-seconds="5" id="pool">` is fetched again from its own
 * page and replaced, unless it is hidden or the reader is in the middle of it. */

export function keepFresh(element: HTMLElement): () => void {
  const interval = Number(element.dataset.refreshSeconds) * 1000;
  const refresh = async () => {
    if (document.hidden || element.contains(document.activeElement)) return;
    const response = await fetch(location.href, { credentials: "same-origin" });
    if (!response.ok || response.redirected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(element.id);
    if (fresh && fresh.innerHTML !== element.innerHTML) element.innerHTML = fresh.innerHTML;
  };
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => console.warn("the page part could not be refreshed", error));
  }, interval);
  return () => clearInterval(timer);
}
