/** What the gateway refused, or why it could not be reached (then `status` is 0 and `code` is "unreachable"). */
export class AirlockError extends Error {
    name = "AirlockError";
    /** The HTTP status. */
    status;
    /** Stable: compare this. */
    code;
    /** The field of the request that is at fault. */
    field;
    requestId;
    /** Seconds after which another try may succeed. */
    retryAfter;
    constructor(status, problem, retryAfter, cause) {
        super(problem.detail ?? `the gateway answered ${status}`, cause === undefined ? undefined : { cause });
        this.status = status;
        this.code = problem.code ?? "unknown";
        this.field = problem.field;
        this.requestId = problem.requestId;
        this.retryAfter = retryAfter;
    }
}
/** A run that did not complete, as {@link Result.value} throws it. */
export class ExecutionError extends Error {
    name = "ExecutionError";
    result;
    constructor(result) {
        super(result.error ?? `the execution ended as ${result.status}`);
        this.result = result;
    }
    get status() {
        return this.result.status;
    }
    /** The limit that ended the run, if one did. */
    get limit() {
        return this.result.limit;
    }
}
