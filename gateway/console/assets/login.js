// A cookie is not sent with a visit that another site's link began, and is with this request: who has a session goes on.
const answer = await fetch("/session", { headers: { Accept: "application/json" } }).catch(() => null);
if (answer?.ok) location.replace(document.body.dataset.next);
