import { ExecutionError } from "./errors.js";
/** What came of a run. A failure of the code is a result, too: look at `status`, or ask for `value()`. */
export class Result {
    constructor(wire) {
        Object.assign(this, wire);
    }
    /** Whether the code completed. */
    get ok() {
        return this.status === "completed";
    }
    /** The value of the code. It throws an {@link ExecutionError}, with the limit that was hit, if there is none. */
    value() {
        if (!this.ok)
            throw new ExecutionError(this);
        return this.result;
    }
}
