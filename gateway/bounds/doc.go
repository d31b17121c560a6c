// Package bounds lists every resource that callers share and that could run out, with its bound, the share of one owner, and
// the answer to who is refused. [Table] is what the code is configured from; OPERATIONS.md prints it.
//
// A [Pool] hands out places. While one owner is alone it may have all of them but a tenth, which is kept for others: half of
// that tenth for owners of other tenants, and the last place for an operator, who may read every tenant's records. So a flood
// of one token keeps nobody else out, and a flood of one tenant's tokens no other tenant.
package bounds
