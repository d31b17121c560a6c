/** An event of a stream. */
export interface ServerEvent {
    id: string;
    name: string;
    data: string;
}
/** Reads server-sent events. It returns when the body ends, and throws what reading the body throws. */
export declare function events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, void>;
