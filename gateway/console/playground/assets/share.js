// A request as the fragment of an address: JSON, compressed, in base64url. Browsers never send a fragment to a server.

const prefix = "#r=";
// The default limit of a gateway's bodies; a link that unpacks to more was not made here.
const largest = 1 << 20;

export async function encode(request) {
  const packed = await whole(new Blob([JSON.stringify(request)]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return prefix + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// decode returns the request of a fragment, or null if the fragment has none. It throws for a damaged one.
export async function decode(fragment) {
  if (!fragment.startsWith(prefix)) return null;
  let request;
  try {
    const text = atob(fragment.slice(prefix.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const json = await whole(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
    request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch (error) {
    throw new Error("The link is damaged: nothing was loaded.", { cause: error });
  }
  if (typeof request !== "object" || typeof request?.code !== "string") throw new Error("The link holds no code: nothing was loaded.");
  return request;
}

async function whole(stream) {
  const parts = [];
  let size = 0;
  for await (const part of read(stream)) {
    size += part.length;
    if (size > largest) throw new RangeError(`more than ${largest} bytes`);
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// read iterates over a ReadableStream, for browsers that cannot do so.
async function* read(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
