// Package console has what people see in a browser: the frame of the pages, their assets, the login, and the policy
// that binds them.
//
// A page is a frame (frame.go: header, navigation, theme) around markup of its own. It loads style sheets and
// ES modules from /assets. All of them are embedded as they are written: there is no build step and no third party.
// Scripts put what they show into the page as text and never as markup. The Content-Security-Policy allows no inline
// script, no inline style and no place to turn text into markup (Trusted Types).
//
// # Sessions
//
// A person logs in with a token or the API key. A session has two secrets: its name, in a cookie that no script can
// read and no other site can send, and a request token. The login page generates the token and keeps it in the storage
// of its origin; scripts of our pages send it in a header. A cookie goes to every port of its host, so the name proves
// little: it says for whom pages are rendered. A call of the API needs both secrets, and is then checked as if the
// credential itself had been sent, so an expired token or a replaced key ends the session. The credential is kept
// encrypted under both secrets, and neither is kept ([Sessions]).
//
// A session counts only for requests of our own pages ([Asked.SameOrigin]). It ends after [SessionIdle] without use,
// after [SessionLifetime], or with a logout, which ends all sessions of the visitor. It belongs to one process: where
// several gateways share an address, the requests of one browser must reach the same gateway.
//
// Package dashboard serves it. Start with [Console].
package console
