export interface Transport {
    url: string;
    token: string | undefined;
    fetch: typeof fetch;
    retries: number;
}
export interface Send {
    method: string;
    path: string;
    body?: string;
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
}
/**
 * Sends a request, and again if the gateway is busy (429, 503), after the time that it asks for. If the connection is
 * lost, or code may have run, it is sent again only if it carries an idempotency key or is no POST.
 */
export declare function send(to: Transport, s: Send): Promise<Response>;
/** Waits for a number of seconds, or throws the reason of the signal. */
export declare function pause(seconds: number, signal?: AbortSignal): Promise<void>;
