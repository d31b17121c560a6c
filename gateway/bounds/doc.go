// Package bounds lists every resource that callers share and that could run out: its bound, the share of one owner,
// and the response to an owner who is refused. The code is configured from [Table], and OPERATIONS.md prints it.
//
// A [Pool] hands out places. A single owner may have all of them but a tenth, which is kept for others: half of that
// tenth for owners of other tenants, and the last place for an operator, who may read every tenant's records. Of what
// is kept, an owner may have a tenth. A flood of one token therefore keeps nobody else out, and a flood of one
// tenant's tokens keeps out no other tenant.
//
// Any package of the gateway above it may import it. Start with [Pool].
package bounds
