// Package playground has the page /playground: an editor for code, policy, limits and input, which shows the findings
// of the policy while one types, and the output of a guest while it runs.
//
// The page is an ordinary client of the API: it runs code with POST /api/execute/stream and analyses it with POST
// /api/analyze, with the rights of the visitor. A shared link has the code in its fragment, which browsers send to
// nobody.
//
// The editor is CodeMirror, which package bundle bundles into bundled/ when the binary is built. A binary without it,
// and a visitor who asks for ?editor=plain, has a text area with the same functions, but without colours, folding and
// completion.
//
// Package dashboard imports it. Start with [New].
package playground
