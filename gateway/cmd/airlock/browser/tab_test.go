package browser_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for a page. Only a page that hangs takes longer.
const patience = 2 * time.Minute

// tab is a page of the browser with cookies and storage of its own. Exceptions of scripts, violations of the policy and
// errors on the console fail the test unless it expects them.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	wrongs   []string
	expected []string
}

// open opens a path of the server, in a window of 1440 by 900 pixels and the light theme.
func (s *server) open(t *testing.T, path string) *tab {
	t.Helper()
	b := &tab{t: t, url: s.url}
	ctx, cancel := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	b.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // the tab lasts as long as the context that it is first used with
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, wrong := range b.wrongs {
			if !b.isExpected(wrong) {
				t.Errorf("the browser says: %s", wrong)
			}
		}
	})
	b.look(1440, 900, "light")
	b.visit(path)
	return b
}

func (b *tab) listen(event any) {
	wrong := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		wrong = e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			wrong += " " + thrown.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			for _, a := range e.Args {
				wrong += string(a.Value) + a.Description + " "
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			wrong = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if wrong != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrongs = append(b.wrongs, wrong)
	}
}

// expect makes the tab accept browser errors whose text contains part.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

func (b *tab) isExpected(wrong string) bool {
	for _, part := range b.expected {
		if strings.Contains(wrong, part) {
			return true
		}
	}
	return false
}

// in runs an action in the page. It must succeed in time.
func in[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatalf("%v\nthe page has:\n%s", err, b.visible())
	}
	return v
}

// ask sends a command of the protocol, which must succeed.
func ask[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	return in(b, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// visible returns the visible text of the page, for a message.
func (b *tab) visible() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx,
		chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 2000)`))
	if err != nil {
		return err.Error()
	}
	return text
}

// visit goes to a path.
func (b *tab) visit(path string) {
	b.t.Helper()
	in(b, chromedp.Navigate(b.url+path))
}

// wait waits until a JavaScript expression is true in the page, whatever page that is by then. One that throws is not
// true yet.
func (b *tab) wait(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	holds := chromedp.Evaluate[bool](`new Promise(done => {
		const look = () => {
			try {
				if (`+expression+`) return done(true);
			} catch {}
			setTimeout(look, 10);
		};
		look();
	})`, chromedp.EvalAwaitPromise)
	for ctx.Err() == nil {
		if held, err := chromedp.Run(ctx, holds); err == nil && held {
			return
		}
	}
	b.t.Fatalf("it never came to this: %s\nthe page has:\n%s", expression, b.visible())
}

// still repeats an action on an element if the page replaced the element between finding it and acting.
func still(action chromedp.Action[chromedp.Void]) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for {
			v, err := action(ctx, t)
			var gone *cdproto.Error
			if !errors.As(err, &gone) || !strings.Contains(gone.Message, "Could not find node") || ctx.Err() != nil {
				return v, err
			}
		}
	}
}

// click clicks what a selector finds once it is visible.
func (b *tab) click(selector string) {
	b.t.Helper()
	in(b, still(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible)))
}

// typed types into a field.
func (b *tab) typed(selector, text string) {
	b.t.Helper()
	in(b, still(chromedp.SendKeys(chromedp.CSS(selector), text, chromedp.NodeVisible)))
}

// text returns the visible text of the first element that a selector finds. It waits for one.
func (b *tab) text(selector string) string {
	b.t.Helper()
	b.wait(`document.querySelector(` + quote(selector) + `)`)
	return eval[string](b, `document.querySelector(`+quote(selector)+`).innerText`)
}

// path returns the path of the page.
func (b *tab) path() string {
	b.t.Helper()
	return eval[string](b, `location.pathname + location.search`)
}

// eval returns the value of a JavaScript expression, awaited.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return in(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// look sets the size of the window in pixels and the system's theme, "light" or "dark".
func (b *tab) look(width, height int64, theme string) {
	b.t.Helper()
	in(b, chromedp.EmulateViewport(width, height))
	ask(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// screenshot saves a picture of the whole page in the folder AIRLOCK_SCREENSHOTS, if that is set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("AIRLOCK_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture := in(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fits checks that nothing is wider than the window, and that nothing that can be clicked is too small to hit.
func (b *tab) fits(name string) {
	b.t.Helper()
	wide := eval[[]string](b, `(() => {
		const width = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= width) return [];
		return [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1)
			.map(e => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)).slice(0, 10);
	})()`)
	if len(wide) > 0 {
		b.t.Errorf("%s is wider than the window: %s", name, strings.Join(wide, ", "))
	}
}

// hurry makes the timers of later pages run twenty times as fast.
func (b *tab) hurry() {
	b.t.Helper()
	ask(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{ const real = setTimeout; window.setTimeout = (f, ms, ...more) => real(f, ms / 20, ...more); }`,
	})
}

// bypassPolicy lets the test's own tools run in later pages, whatever their Content-Security-Policy.
func (b *tab) bypassPolicy() {
	b.t.Helper()
	ask(b, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
}
