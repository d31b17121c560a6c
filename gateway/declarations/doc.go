// Package declarations writes TypeScript declarations of the globals and tools of an execution, so that a model or an
// editor writes calls that fit. GET /api/tools.d.ts and the description of the MCP tool execute_code contain them. It
// is pure.
//
// Package mcp imports it. Start with [For].
package declarations
