// Package playground is the page /playground: an editor for code, policy, limits and input, what the policy finds while
// one types, and what a guest prints while it runs.
//
// The page is an ordinary client of the API: it runs code with POST /api/execute/stream and asks POST /api/analyze, with
// whatever rights the visitor has. What it shares is in the fragment of its address, which browsers send to nobody.
//
// The editor is CodeMirror, bundled by package bundle into bundled/ when the binary is built. A binary without it, and a
// visitor who asks for ?editor=plain, has a text area with the same powers but colours, folding and completion.
package playground
