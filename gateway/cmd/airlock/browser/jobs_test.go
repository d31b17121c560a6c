package browser_test

import (
	"fmt"
	"testing"
)

// A person sees the jobs that run and the schedules, and cancels a job.
func TestJobs(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	s.save(t, 201, "nightly", `{"code": "export default () => 1", "schedule": "0 3 * * *"}`)
	b := s.open(t, "/jobs")
	b.hurry()
	b.visit("/jobs")
	b.bypassPolicy()
	b.wait(`document.querySelector("#jobs").textContent.startsWith("No job is running or queued.") &&
		document.querySelector("#schedules").textContent.includes("nightly")`)
	started := eval[int](b, `fetch("/api/execute", {method: "POST", headers: {"Content-Type": "application/json",
		Prefer: "respond-async"}, body: JSON.stringify({code: "for (;;);", timeout: 60000, policy: "agent"})})
		.then(r => r.status)`)
	if started != 202 {
		t.Fatalf("the job was answered with %d", started)
	}
	b.wait(`document.querySelectorAll("#jobs .danger").length === 1 &&
		document.querySelector("#jobs .badge").textContent === "running"`) // the page refreshes by itself
	eval[bool](b, `(document.querySelector("#jobs .danger").focus(), window.row = document.querySelector("#jobs tr"),
		window.asked = 0, window.real = fetch, window.fetch = (...a) => (window.asked++, real(...a)), true)`)
	b.wait(`window.asked >= 2 && document.querySelector("#live").textContent === "Live"`)
	b.wait(`document.activeElement === window.row.querySelector(".danger") && window.row.isConnected`)
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		b.accessible(source, "/jobs "+theme)
		b.fits("/jobs " + theme)
		b.screenshot(fmt.Sprintf("jobs-%d-%s", width, theme))
	}
	b.look(1440, 900, "light")
	b.click("#jobs .danger")
	b.wait(`document.querySelector("#told").textContent.endsWith("is cancelled.") &&
		document.querySelector("#jobs .nothing") !== null`)
}
