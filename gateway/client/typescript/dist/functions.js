import { send } from "./http.js";
import { Result } from "./result.js";
/** Saved functions: `airlock.functions`. */
export class Functions {
    transport;
    constructor(transport) {
        this.transport = transport;
    }
    /** Saves a version. The same content again is the same version. */
    async save(name, definition) {
        const body = JSON.stringify(typeof definition === "string" ? { code: definition } : definition);
        const response = await send(this.transport, { method: "PUT", path: at(name), body });
        return (await response.json());
    }
    /** Runs a saved function and waits. Without version and alias, the latest version runs. */
    async invoke(name, options = {}) {
        const { signal, idempotencyKey, ...body } = options;
        const response = await send(this.transport, {
            method: "POST", path: at(name) + "/invoke", body: JSON.stringify(body), signal,
            headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
        });
        return new Result((await response.json()));
    }
    /** All saved functions. */
    async *list() {
        for (let cursor = "";;) {
            const path = "/api/functions" + (cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`);
            const response = await send(this.transport, { method: "GET", path });
            const page = (await response.json());
            yield* page.items;
            if (!page.next)
                return;
            cursor = page.next;
        }
    }
    /** Deletes a function with all its versions. */
    async delete(name) {
        await send(this.transport, { method: "DELETE", path: at(name) });
    }
}
function at(name) {
    return `/api/functions/${encodeURIComponent(name)}`;
}
