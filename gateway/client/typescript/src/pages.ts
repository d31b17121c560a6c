import { call, invalid, type Transport } from "./http.js";

/** Yields the items of all pages of a list. */
export async function* pages<T>(to: Transport, path: string): AsyncGenerator<T, void, void> {
  for (let cursor = ""; ; ) {
    const more = cursor === "" ? "" : `${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
    const page = await call<{ items: T[]; next: string | null }>(to, { method: "GET", path: path + more });
    if (!Array.isArray(page.items) || page.next === cursor) throw invalid("is not a page of a list");
    yield* page.items;
    if (!page.next) return;
    cursor = page.next;
  }
}
