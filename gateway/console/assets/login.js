import { ask, draw, forget } from "/assets/session.js";

const form = document.querySelector("form");
let submitted = false;
form.addEventListener("submit", (event) => {
  try {
    submitted = true;
    form.elements.request_token.value = draw();
  } catch {
    event.preventDefault();
    document.getElementById("storage").hidden = false;
  }
});

// Browsers withhold the cookie when a link of another site leads here, but send it with this request: a session continues.
const answer = await ask("/session", { headers: { Accept: "application/json" } }).catch(() => null);
if (answer?.ok) location.replace(document.body.dataset.next);
else if (answer?.status === 401 && !submitted) forget();
