import { answerWithin, invalid, longestAnswer } from "./http.js";

/** An event of a stream. */
export interface ServerEvent {
  id: string;
  name: string;
  data: string;
}

/** Reads server-sent events. It returns when the body ends, and throws what reading the body throws. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pending: string[] = []; // pieces of the line that is not complete
  let length = 0; // of the event that is not complete
  let event: ServerEvent = { id: "", name: "", data: "" };
  try {
    for (;;) {
      const silent = setTimeout(() => void reader.cancel().catch(() => undefined), answerWithin);
      const { done, value } = await reader.read().finally(() => clearTimeout(silent));
      if (done) return;
      length += value.length;
      const lines = decoder.decode(value, { stream: true }).split("\n");
      for (let i = 0; i < lines.length - 1; i++) {
        const line = pending.join("") + lines[i];
        pending = [];
        if (line === "") {
          if (event.name !== "") yield event;
          event = { id: "", name: "", data: "" };
          length = 0;
        } else if (line.startsWith("id: ")) event.id = line.slice(4);
        else if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("data: ")) event.data = line.slice(6);
      }
      pending.push(lines[lines.length - 1] ?? "");
      if (length > longestAnswer) throw invalid("has an event that is too long");
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
