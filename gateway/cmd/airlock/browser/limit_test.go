package browser_test

import "testing"

// A page whose visitor has reached the rate limit says so, continues when the limit allows it, and no longer says it.
func TestRateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, loaded string }{
		{"/functions", `document.querySelector("#functions").textContent.startsWith("No function is saved yet")`},
		{"/packages", `document.querySelector("#packages").textContent === "There are no packages."`},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "RATE_LIMIT_MAX_REQUESTS=2", "RATE_LIMIT_WINDOW_MS=20000")
			b := s.open(t, "/packages")
			b.expect("429")
			b.wait(`document.querySelector("#packages").textContent === "There are no packages."`)
			eval[bool](b, `fetch("/api/stats").then(() => fetch("/api/stats")).then(() => true)`)
			b.visit(c.path)
			b.wait(`document.querySelector("#trouble").textContent.startsWith("Your limit of requests is reached.")`)
			b.wait(c.loaded + ` && document.querySelector("#trouble").hidden`)
		})
	}
}

// A list that reads itself again leaves the last third of the visitor's limit for what the visitor does.
func TestListsSpareTheRateLimit(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/jobs", "/approvals"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "RATE_LIMIT_MAX_REQUESTS=30", "RATE_LIMIT_WINDOW_MS=600000")
			b := s.open(t, path)
			b.wait(`document.querySelector("#live").textContent === "Live"`)
			eval[bool](b, `(async () => {
				for (let i = 0; i < 20; i++) await fetch("/api/stats");
				const real = setTimeout;
				window.waits = [];
				window.setTimeout = (f, ms) => (waits.push(ms), real(f, ms));
				document.querySelector("#refresh").click();
				return true;
			})()`)
			b.wait(`waits.some((ms) => ms > 60_000)`)
		})
	}
}

// A problem without a detail is shown by its status.
func TestProblemWithoutDetail(t *testing.T) {
	t.Parallel()
	b := serve(t).open(t, "/packages")
	b.wait(`document.querySelector("#packages").textContent === "There are no packages."`)
	eval[bool](b, `(async () => {
		const { call, trouble } = await import("/assets/api.js");
		window.fetch = async () => new Response('{"detail": ""}', { status: 500 });
		await call("/api/packages").catch(trouble);
		return true;
	})()`)
	b.wait(`document.querySelector("#trouble").textContent === "The gateway answered 500."`)
}
