// Package apidocs has the page /docs: the description of the API, with a form that sends each request.
//
// The viewer is Swagger UI, which package bundle takes from npm into bundled/ when the binary is built. It reads
// /openapi.json and sends requests to this gateway alone, with the rights of the visitor: those of the session, or of
// a token that the visitor enters. A binary without the viewer has a link to the description.
//
// Package dashboard imports it. Start with [New].
package apidocs
