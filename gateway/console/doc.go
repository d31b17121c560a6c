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
// A person logs in with a token or the API key. The credential stays here; the browser gets the name of a session in a
// cookie that no script can read and no other site can send. Each request that carries it is checked with the credential
// as if that had been sent, so a token that has expired, or a key that was replaced, ends the session. A session is good
// for requests of our own pages alone ([SameOrigin]), ends with a logout or after [SessionLifetime], and belongs to one
// process: several gateways behind one address need requests of one browser to reach one of them.
package console
