package browser_test

import "testing"

// A page whose visitor has reached the rate limit says so, and continues when the limit allows it.
func TestRateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := serve(t, "RATE_LIMIT_MAX_REQUESTS=2", "RATE_LIMIT_WINDOW_MS=4000")
	b := s.open(t, "/packages")
	b.expect("429")
	b.wait(`document.querySelector("#packages").textContent === "There are no packages."`)
	eval[bool](b, `fetch("/api/stats").then(() => fetch("/api/stats")).then(() => true)`)
	b.visit("/functions")
	b.wait(`document.querySelector("#trouble").textContent.startsWith("Your limit of requests is reached.")`)
	b.wait(`document.querySelector("#functions").textContent.startsWith("No function is saved yet") &&
		document.querySelector("#trouble").hidden`)
}
