// Package console is what people see in a browser: the frame of the pages, what they load, the login, and the policy
// that binds them.
//
// A page is a frame (pages/frame.html: header, navigation, theme) around markup of its own. It loads style sheets and ES
// modules from /assets, all of them embedded as they are written: there is no build step and no third party. Scripts put
// what they show into the page as text, never as markup; the Content-Security-Policy has no inline script, no inline style
// and no place to turn text into markup (Trusted Types).
//
// # Who is looking
//
// A person logs in with a token or the API key. A session has two secrets: its name, in a cookie that no script can read and
// no other site can send, and a request token, which the login page draws and keeps in the storage of its origin, and which
// scripts of our pages send in a header. A cookie goes to every port of its host, so the name counts for little: it says
// whose pages to render. A call of the API takes both secrets, and is then checked with the credential as if that had been
// sent, so a token that has expired, or a key that was replaced, ends the session. The credential is kept encrypted under
// both, and neither is kept ([Sessions]).
//
// A session counts for requests of our own pages alone ([Asked.SameOrigin]). It ends after [SessionIdle] without use, after
// [SessionLifetime], or with a logout, which ends all sessions of the visitor. It belongs to one process: several gateways
// behind one address need requests of one browser to reach one of them.
package console
