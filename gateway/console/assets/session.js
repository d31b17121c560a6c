// The second secret of a session. Browsers send the cookie to every port of a host, whereas only scripts of this origin
// send this secret, in a header. The login page draws it, and the gateway never reveals it.

const kept = "airlock-request-token";

// draw makes a new secret for a login and stores it. It throws if the browser stores nothing for this origin.
export function draw() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const token = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  localStorage.setItem(kept, token);
  return token;
}

// forget deletes the request token, because the session has ended.
export function forget() {
  try {
    localStorage.removeItem(kept);
  } catch {
    // Nothing was stored.
  }
}

// requestToken returns the secret, or null without a session.
export function requestToken() {
  try {
    return localStorage.getItem(kept);
  } catch {
    return null; // the gateway's response says what is missing
  }
}

// allowance is the visitor's limit of requests as the last response had it: how many remain, and when all do again.
const allowance = { limit: 0, remaining: 0, renewed: 0 };

function note(headers) {
  if (!headers.has("RateLimit-Limit")) return;
  allowance.limit = Number(headers.get("RateLimit-Limit"));
  allowance.remaining = Number(headers.get("RateLimit-Remaining"));
  allowance.renewed = performance.now() + 1000 * Number(headers.get("RateLimit-Reset"));
}

// rest returns for how many milliseconds a page makes no request by itself, so that the last third of the visitor's
// limit is left for what they do.
export const rest = () => (allowance.remaining < allowance.limit / 3 ? Math.max(0, allowance.renewed - performance.now()) : 0);

// ask calls fetch with the request token of the session. All calls of the API use it. If the gateway cannot be reached,
// the error says so in words.
export async function ask(path, { headers, ...options } = {}) {
  const token = requestToken();
  try {
    const answer = await fetch(path, { ...options, headers: token === null ? headers : { ...headers, "X-Airlock-Request-Token": token } });
    note(answer.headers);
    return answer;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Error("the gateway cannot be reached", { cause: error });
  }
}
