// What a visitor has written and not sent: it survives a login of the same visitor, in the same tab and on the same page.

const kept = "airlock-drafts";
const owner = JSON.stringify([document.body.dataset.tenant, document.body.dataset.subject]);
const here = () => location.pathname + location.search;
const left = taken();

// taken returns the texts that were written on this page before the login, by name.
function taken() {
  try {
    const was = JSON.parse(sessionStorage.getItem(kept));
    if (was?.owner === owner && was.page !== here()) return {};
    sessionStorage.removeItem(kept);
    return was?.owner === owner ? was.texts : {};
  } catch {
    return {}; // storage is refused
  }
}

// draft names a field whose text is kept, and returns it with the text that it had.
export function draft(name, field) {
  field.dataset.draft = name;
  if (Object.hasOwn(left, name)) field.value = left[name];
  delete left[name];
  return field;
}

// lift takes the texts of the fields in a place, so that the fields that replace them have them.
export function lift(place) {
  for (const field of place.querySelectorAll("[data-draft]")) if (field.value !== field.defaultValue) left[field.dataset.draft] = field.value;
}

// keepDrafts keeps all texts, because the page is left for the login.
export function keepDrafts() {
  lift(document);
  try {
    sessionStorage.setItem(kept, JSON.stringify({ owner, page: here(), texts: left }));
  } catch {
    // They do not fit, or storage is refused.
  }
}

// forgetDrafts deletes what was kept, because the visitor logs out.
export function forgetDrafts() {
  try {
    sessionStorage.removeItem(kept);
  } catch {
    // Nothing was stored.
  }
}
