// Tabs as the ARIA Authoring Practices describe them: arrows, Home and End move the focus, and the tab with the focus
// is shown.

export function tabs(list) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const select = (tab) => {
    for (const each of all) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      document.getElementById(each.getAttribute("aria-controls")).hidden = !chosen;
    }
    tab.dispatchEvent(new CustomEvent("shown"));
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) select(tab);
  });
  list.addEventListener("keydown", (event) => {
    const now = all.indexOf(document.activeElement);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: all.length - 1 }[event.key];
    if (now < 0 || to === undefined) return;
    event.preventDefault();
    const tab = all[(to + all.length) % all.length];
    select(tab);
    tab.focus();
  });
  return (id) => select(document.getElementById(id));
}
