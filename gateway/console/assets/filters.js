// The filters of a page are in its URL, so they can be bookmarked, shared, and reached with the back button.

// filters binds the controls of a form (each named as its parameter) to the URL, and calls changed with the parameters
// now and whenever they change. A parameter that has its default is left out.
export function filters(form, defaults, changed) {
  const now = () => {
    const given = new URLSearchParams(location.search);
    return Object.fromEntries(Object.entries(defaults).map(([name, usual]) => [name, given.get(name) || usual]));
  };
  const show = (values) => {
    for (const [name, value] of Object.entries(values)) {
      const control = form.elements[name];
      if (control) control.value = value;
    }
  };
  const apply = () => {
    const values = now();
    show(values);
    changed(values);
  };
  const read = () => {
    const next = new URLSearchParams();
    for (const [name, usual] of Object.entries(defaults)) {
      const value = form.elements[name]?.value.trim() ?? "";
      if (value !== "" && value !== usual) next.set(name, value);
    }
    const search = next.size > 0 ? `?${next}` : "";
    if (search === location.search) return;
    history.pushState(null, "", location.pathname + search);
    apply();
  };
  form.addEventListener("change", read);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    read();
  });
  addEventListener("popstate", apply);
  apply();
}

// query returns the parameters that are set as a query string.
export function query(parameters) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) q.set(name, value);
  return q.toString();
}
