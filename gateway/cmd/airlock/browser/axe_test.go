package browser_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// `make test-browser` fetches axe-core (MPL-2.0, Deque Systems), whose content must have this hash.
const (
	axeFile      = "../../../../bin/axe/axe-core-4.14.1.tgz"
	axeIntegrity = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)

// axe returns the source of axe-core. It skips the test if axe-core was not fetched.
func axe(t *testing.T) string {
	t.Helper()
	needBrowser(t)
	packed, err := os.ReadFile(axeFile)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("axe-core is not here; `make test-browser` fetches it and runs this")
	}
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha512.Sum512(packed); base64.StdEncoding.EncodeToString(sum[:]) != axeIntegrity {
		t.Fatalf("%s is not what it should be; remove it and run make test-browser", axeFile)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		head, err := files.Next()
		if err != nil {
			t.Fatalf("%s has no axe.min.js: %v", axeFile, err)
		}
		if head.Name == "package/axe.min.js" {
			source, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(source)
		}
	}
}

type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target         []any
		FailureSummary string
	}
}

// accessible checks the page with axe: no violation of its rules for WCAG 2.2 AA and for good practice. It also checks
// that texts which take the focus have a name.
func (b *tab) accessible(source, name string) {
	b.t.Helper()
	in(b, chromedp.Evaluate[bool](source+"; true"))
	for _, v := range eval[[]violation](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations)`) {
		for _, n := range v.Nodes {
			b.t.Errorf("%s: %s, %s: %s at %v\n%s", name, v.Impact, v.ID, v.Help, n.Target, n.FailureSummary)
		}
	}
	if nameless := eval[[]string](b, `[...document.querySelectorAll("pre[tabindex]")]
		.filter((pre) => !pre.role || !pre.ariaLabel).map((pre) => pre.textContent)`); len(nameless) > 0 {
		b.t.Errorf("%s: these texts take the focus and have no name: %q", name, nameless)
	}
}
