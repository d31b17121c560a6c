package browser_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"github.com/airlock-run/airlock/infra/packages/registrytest"
)

// The page lists the packages that the operator has added, and says so if there are none.
func TestPackagesPage(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	b := s.open(t, "/packages")
	b.wait(`document.querySelector("#packages").textContent === "There are no packages."`)

	r := registrytest.New(t)
	r.Publish(t, "plain", "1.2.3", "index.js", "module.exports = (x) => x + 1")
	r.Publish(t, "@scope/random-with-a-long-name", "2.0.0", "index.js", "module.exports = Math.random()")
	folder := filepath.Join(t.TempDir(), "packages")
	cmd := exec.Command(program, "packages", "add", "plain@1", "@scope/random-with-a-long-name")
	cmd.Env = append(s.env, "npm_config_registry="+r.URL, "AIRLOCK_PACKAGES="+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s = serve(t, "AIRLOCK_PACKAGES="+folder)
	b = s.open(t, "/packages")
	b.bypassPolicy()
	b.wait(`document.querySelectorAll("#packages tr").length === 2`)
	text := b.text("#packages")
	for _, want := range []string{"plain", "1.2.3", "None: runs start after it", "Each run evaluates it: it draws random",
		"standard, extended, agent"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		b.accessible(source, "/packages "+theme)
		b.fits("/packages " + theme)
		b.screenshot(fmt.Sprintf("packages-%d-%s", width, theme))
	}
}

// The editor completes the names of packages, what they export, and the members of what code imports.
func TestPackageCompletion(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := registrytest.New(t)
	r.Publish(t, "lists", "1.0.0", "index.js",
		"module.exports = (x) => x; module.exports.chunk = function (array, size) {}; module.exports.VERSION = 1")
	folder := filepath.Join(t.TempDir(), "packages")
	cmd := exec.Command(program, "packages", "add", "lists")
	cmd.Env = append(s.env, "npm_config_registry="+r.URL, "AIRLOCK_PACKAGES="+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b := serve(t, "AIRLOCK_PACKAGES="+folder).playground(t, "")
	for _, c := range []struct{ code, typed, want string }{
		{"import _ from 'lists'; _", ".", "chunk(a?: any, b?: any"},
		{"import * as all from 'lists'; all", ".", "VERSION"},
		{"const lists = require('lists'); lists", ".", "chunk(a?: any, b?: any"},
		{"import x from ", "'", "lists"},
	} {
		b.write("")
		b.write(c.code)
		ask(b.tab, input.InsertText, input.InsertTextParams{Text: c.typed})
		if c.typed == "'" {
			b.press("l")
		}
		b.wait(`document.querySelector("#editor").shadowRoot.querySelector(".cm-tooltip-autocomplete")` +
			`?.textContent.includes(` + quote(c.want) + `)`)
	}
}
