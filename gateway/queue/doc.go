// Package queue is the line in front of the functions: a fixed number of places, a bounded number of waiters, three
// classes of priority, and fairness between tenants.
//
// A free place goes to the classes in the proportion 6 : 3 : 1 (high, normal, low; smooth weighted round-robin after
// nginx's upstream balancer), so that no class starves. Within a class it goes to the tenant that holds the fewest
// places, and tenants that hold equally many take turns. A flood of one tenant therefore delays the others by one
// place each.
//
// While several tenants are active, each may always have its share of the places. What a tenant recently needed of
// its share stays free for it, up to half of all places in total, so that its next execution does not wait, however
// long the executions of others take. The subjects of one tenant share the places that it may have in the same way.
//
// If the line is full, an arrival takes the place of the youngest waiter of a lower class, or of the tenant that has
// the longest line (longest-queue-drop), before it is itself turned away. The subjects of one tenant take turns, and
// give way to one another, in the same way.
//
// Packages gateway and jobs import it. Start with [Queue.AcquireFor].
package queue
