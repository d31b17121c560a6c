// Package declarations writes TypeScript declarations of what code finds in an execution, so that a model, or an editor,
// writes calls that fit: GET /api/tools.d.ts and the description of the MCP tool execute_code have them. It is pure.
package declarations
