// Package openapi has the description of the HTTP API as an OpenAPI 3.1 document. The page /docs shows it.
//
// The document is written by hand under document/, one file per group of paths and of schemas, and assembled when a
// process starts. Tests keep it true: it has exactly the routes that the gateway serves, its execution request has
// exactly the members that are decoded, and each of its examples is executed by a gateway. The same schemas describe
// the tools of package mcp.
//
// Packages gateway and mcp import it. Start with [Document].
package openapi
