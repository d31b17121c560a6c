// Text areas of forms.

// json returns the value of a text area that holds JSON. If it holds none, json says so at the field and returns undefined.
export function json(area) {
  try {
    return JSON.parse(area.value);
  } catch (e) {
    const text = area.value.trim();
    area.setCustomValidity(/^[\[{"\d-]/.test(text) || text === "" ? `This is not JSON: ${e.message}` : `This is not JSON. A text needs quotes: ${JSON.stringify(text.slice(0, 40))}`);
    area.addEventListener("input", () => area.setCustomValidity(""), { once: true });
    area.reportValidity();
    return undefined;
  }
}

// submits makes Ctrl+Enter (or ⌘ Enter) in a text area press the primary button of its form.
export function submits(area) {
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    area.form.requestSubmit(area.form.querySelector(".primary"));
  });
}
