// Package browser tests the web pages in a real browser: Debian's Chromium, without a window, against a gateway that is
// built and started as anybody's, with function processes behind it.
//
// Where no Chromium is found the tests are skipped and say so; `make test-browser` installs one, and axe-core, and runs
// them. AIRLOCK_BROWSER names another browser to use, AIRLOCK_SCREENSHOTS a folder in which screenshots are left.
package browser
