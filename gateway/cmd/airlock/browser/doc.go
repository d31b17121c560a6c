// Package browser tests the web pages in a real browser: Debian's Chromium, headless, against a gateway that is built
// and started as users do, with function processes behind it.
//
// The tests are skipped if there is no Chromium; `make test-browser` installs it and axe-core, and runs them.
// AIRLOCK_BROWSER names another browser, and AIRLOCK_SCREENSHOTS a folder for screenshots.
package browser
