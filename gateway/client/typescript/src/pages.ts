import { call, invalid, type Transport } from "./http.js";

/** Returns the items of a list that has one page. */
export async function items<T>(to: Transport, path: string): Promise<T[]> {
  const all: T[] = [];
  for await (const item of pages<T>(to, path)) all.push(item);
  return all;
}

/** Returns the query string of what is given, or "". */
export function query(given: object): string {
  const text = new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]),
  ).toString();
  return text === "" ? "" : `?${text}`;
}

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
