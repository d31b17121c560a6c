// Lists that read themselves again while somebody looks at them.
import { lift } from "/assets/drafts.js";
import { showLive } from "/assets/frame.js";
import { rest } from "/assets/session.js";

// watch calls read now, and again after some milliseconds, or later if the limit of requests is nearly used up, while
// the page is seen. read throws if it fails: then report
// is called with the error, and otherwise with null. The returned function reads at once.
export function watch(milliseconds, read, report) {
  let timer = 0, busy = null, over = false;
  async function look() {
    clearTimeout(timer);
    const error = await read().then(() => null, (e) => e);
    report(error);
    over = error !== null && [401, 403, 501].includes(error.status); // another look would not help
    if (over) showLive("offline", "Stopped");
    else if (document.hidden) showLive("paused", "Paused");
    else {
      showLive(error === null ? "live" : "offline", error === null ? "Live" : "Offline");
      timer = setTimeout(refresh, Math.max(milliseconds, 1000 * (error?.retryAfter ?? 0), rest()));
    }
  }
  const refresh = () => (busy ??= look().finally(() => (busy = null)));
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (over) return;
    if (document.hidden) showLive("paused", "Paused");
    else refresh();
  });
  refresh();
  return async () => {
    await busy; // what it read may be older than what the caller did
    return refresh();
  };
}

// keyed returns a function that fills a place with an element for each item, or with nothing() if there is none. The
// element of an item that has not changed stays, with what was written into it and the focus.
export function keyed(place, make, nothing) {
  const shown = new Map(); // by ID of the item: its element, and what the element shows
  return (items) => {
    const old = new Map(shown);
    const elements = items.map((item) => {
      const state = JSON.stringify(item), was = old.get(item.id);
      old.delete(item.id);
      if (was?.state === state) return was.element;
      const focused = was?.element.contains(document.activeElement);
      if (was) lift(was.element);
      const element = make(item);
      shown.set(item.id, { state, element });
      was?.element.replaceWith(element);
      if (focused) element.querySelector("button, input, textarea, a")?.focus({ preventScroll: true });
      return element;
    });
    for (const id of old.keys()) shown.delete(id);
    if (items.length === 0) return place.replaceChildren(nothing());
    for (const other of [...place.children]) if (!elements.includes(other)) other.remove();
    elements.forEach((element, i) => place.children[i] === element || place.insertBefore(element, place.children[i] ?? null));
    return undefined;
  };
}
