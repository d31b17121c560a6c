// Follows a stream of server-sent events. fetch and not EventSource: it tells why a stream was refused.
import { logIn, showLive } from "/assets/frame.js";
import { ask } from "/assets/session.js";

// follow calls handlers[event](data) with each event, reports(problem or null) when the stream fails or recovers, and
// continues until the returned function is called. It pauses while the page is hidden, because a browser has few
// connections for all its tabs.
export function follow(url, handlers, reports) {
  let stop = null;
  const seen = () => {
    if (document.hidden) {
      stop?.abort();
      stop = null;
      showLive("paused", "Paused");
    } else if (stop === null) {
      stop = new AbortController();
      run(url, handlers, reports, stop.signal);
    }
  };
  document.addEventListener("visibilitychange", seen);
  seen();
  return () => {
    document.removeEventListener("visibilitychange", seen);
    stop?.abort();
  };
}

async function run(url, handlers, reports, signal) {
  let wait = 1000;
  while (!signal.aborted) {
    showLive("connecting", "Connecting");
    let pause = wait;
    try {
      const answer = await ask(url, { headers: { Accept: "text/event-stream" }, signal, cache: "no-store" });
      if (answer.status === 401) return logIn();
      if (!answer.ok) {
        const problem = await answer.json().catch(() => ({}));
        pause = Math.max(wait, 1000 * Number(answer.headers.get("Retry-After") ?? 0));
        reports({ status: answer.status, detail: problem.detail ?? `the gateway answered ${answer.status}` });
        if (answer.status < 500 && answer.status !== 429) return showLive("offline", "Stopped");
      } else {
        showLive("live", "Live");
        reports(null);
        wait = 1000;
        await read(answer.body, (event, data) => {
          if (event === "expired") logIn();
          else handlers[event]?.(data);
        });
        pause = 1000;
      }
    } catch (error) {
      if (signal.aborted) return;
      reports({ status: 0, detail: "the gateway cannot be reached; trying again" });
    }
    showLive("offline", "Offline");
    await new Promise((done) => {
      const timer = setTimeout(done, pause);
      signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
    });
    wait = Math.min(2 * wait, 30_000);
  }
}

// read returns the events of a stream (the HTML standard's "Server-sent events", without ids and retry).
export async function read(body, give) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      let event = "message";
      const data = [];
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event = line.slice(7);
        else if (line.startsWith("data: ")) data.push(line.slice(6));
      }
      if (data.length > 0) give(event, JSON.parse(data.join("\n")));
    }
  }
}
