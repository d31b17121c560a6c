package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The program and the browser that all tests share. Both are empty if there is no browser.
var (
	program string
	chrome  context.Context
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	path := chromium()
	if path == "" {
		return m.Run() // every test is skipped
	}
	dir, err := os.MkdirTemp("", "airlock-browser")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "airlock")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program,
		"github.com/airlock-run/airlock/gateway/cmd/airlock").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the gateway: %v\n%s", err, out)
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-GB"), chromedp.Env("TZ=UTC"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root
	}
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	started, quit := chromedp.NewContext(allocated)
	defer quit()
	if err := chromedp.Do(started); err != nil {
		fmt.Fprintf(os.Stderr, "start %s: %v\n", path, err)
		return 1
	}
	chrome = started
	return m.Run()
}

// chromium returns the path of the browser, or "".
func chromium() string {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if path := os.Getenv("AIRLOCK_BROWSER"); path != "" {
		names = []string{path}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// needBrowser skips a test if there is no browser.
func needBrowser(t *testing.T) {
	t.Helper()
	if chrome == nil {
		t.Skip("no Chromium is installed here; `make test-browser` installs one and runs this")
	}
}
