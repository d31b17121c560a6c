// Package dashboard serves the web pages of the gateway to browsers: the pages themselves (pages.go), the login and its
// sessions (login.go), and what the pages show (live.go, panels.go, activity.go).
//
// A login turns a credential into a session, which stands for that credential in requests of our own pages. Behind
// that, pages use the same API as every other client. GET /api/live streams panels to a page: each event is a whole
// panel, and is sent again when it has changed.
//
// Markup and assets are in package console, aggregates in package records. Package gateway imports it. Start with
// [Handlers].
package dashboard
