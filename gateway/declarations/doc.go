// Package declarations writes TypeScript declarations of the globals and tools of an execution, so that a model or an
// editor writes calls that fit. GET /api/tools.d.ts and the description of the MCP tool execute_code contain them. It
// also declares the exports of npm packages, for GET /api/packages.d.ts. It is pure.
//
// Packages gateway and mcp import it. Start with [For] and [Packages].
package declarations
