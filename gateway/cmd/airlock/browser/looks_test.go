package browser_test

import (
	"fmt"
	"testing"
)

// looked are the sizes and themes in which every page must fit.
func (b *tab) looked(name string, after func()) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 768, 1440} {
			b.look(width, 900, theme)
			after()
			b.wait(`[...document.querySelectorAll(".drawing")].every(d => d.getBoundingClientRect().width <= ` +
				`d.parentElement.clientWidth + 1)`)
			b.wait(`(link => !link || (link.left >= 0 && link.right <= innerWidth))(` +
				`document.querySelector("nav [aria-current]")?.getBoundingClientRect())`)
			full := fmt.Sprintf("%s-%d-%s", name, width, theme)
			b.fits(full)
			b.screenshot(full)
		}
	}
}

// Every page, in every size and theme, is as wide as the window, and the dashboard's tables fit a phone. Screenshots
// are saved if AIRLOCK_SCREENSHOTS names a folder.
func TestLooks(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := s.seeded(t)
	ready := func(b *tab) func() {
		return func() {
			b.wait(`document.querySelector("#key").dataset.state === "ready" && ` +
				`document.querySelector(".drawing").getBoundingClientRect().width > 0`)
		}
	}
	b := s.open(t, "/dashboard?window=15m")
	b.looked("dashboard", ready(b))
	b.look(360, 900, "light")
	b.wait(`[...document.querySelectorAll("section > .scroll > table")].every(t => ` +
		`t.scrollWidth <= t.parentElement.clientWidth)`)
	b = s.open(t, "/security?window=15m")
	b.looked("security", ready(b))
	b = s.open(t, "/dashboard/execution/"+all["wary"].ID)
	b.looked("execution", func() { b.wait(`!document.querySelector("#execution").hidden`) })
	b = s.open(t, "/dashboard?window=15m&status=cancelled&policy=nothing")
	b.looked("dashboard-filtered", ready(b))
	guarded := guarded(t)
	b = guarded.open(t, "/login")
	b.expect("401")
	b.looked("login", func() { b.wait(`document.querySelector("#token")`) })
}
