import { send, pause } from "./http.js";
import { Result } from "./result.js";
/** An execution that was submitted and runs without its caller. */
export class Execution {
    transport;
    id;
    constructor(transport, id) {
        this.transport = transport;
        this.id = id;
    }
    /** Its result, or undefined while it is queued or running. */
    async poll(signal) {
        const response = await send(this.transport, { method: "GET", path: `/api/result/${encodeURIComponent(this.id)}`, signal });
        const wire = (await response.json());
        if (wire.status === "queued" || wire.status === "running")
            return undefined;
        return new Result(wire);
    }
    /** Waits for the result. Aborting the signal ends the wait, not the execution. */
    async wait(options = {}) {
        for (let seconds = 0.05;; seconds = Math.min(seconds * 1.5, 5)) {
            const result = await this.poll(options.signal);
            if (result !== undefined)
                return result;
            await pause(seconds, options.signal);
        }
    }
    /** Cancels the execution: what waits never runs, and what runs is stopped. */
    async cancel() {
        await send(this.transport, { method: "DELETE", path: `/api/result/${encodeURIComponent(this.id)}` });
    }
}
