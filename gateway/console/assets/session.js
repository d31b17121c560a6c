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

// ask calls fetch with the request token of the session. All calls of the API use it. If the gateway cannot be reached,
// the error says so in words.
export async function ask(path, { headers, ...options } = {}) {
  const token = requestToken();
  try {
    return await fetch(path, { ...options, headers: token === null ? headers : { ...headers, "X-Airlock-Request-Token": token } });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Error("the gateway cannot be reached", { cause: error });
  }
}
