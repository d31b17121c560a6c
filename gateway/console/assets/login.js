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

// A cookie is not sent with a visit that another site's link began, and is with this request: who has a session goes on.
const answer = await ask("/session", { headers: { Accept: "application/json" } }).catch(() => null);
if (answer?.ok) location.replace(document.body.dataset.next);
else if (answer?.status === 401 && !submitted) forget();
