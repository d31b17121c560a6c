// Package queue is the line in front of the functions: a fixed number of places, a bounded number of waiters, three
// classes of priority, and turns taken between tenants.
//
// A place that falls free goes to the classes in proportion 6 : 3 : 1 (high, normal, low; smooth weighted round-robin
// after nginx's upstream balancer), so none starves; within a class it goes to the tenant that holds the fewest places,
// and among equals the tenants take turns, so a flood of one tenant delays the others by one place each.
//
// While several tenants are about, each may always have its part of the places, and what it lately needed of that part
// stays free for it (half of all places at most): whoever comes next finds it free, however long the executions of the
// others take. When the line is full, an arrival takes the place of the youngest waiter of a lower class, or of the
// tenant that holds the longest line (longest-queue-drop), before it is itself turned away. The subjects of one tenant take
// turns, and give way to one another, in the same way.
package queue
