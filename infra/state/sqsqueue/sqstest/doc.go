// Package sqstest runs fauxqs for tests: a program on Node.js that speaks SQS's protocol, with visibility timeouts,
// delays and dead-letter queues. It serves message groups of standard queues in no fair order, it never throttles,
// delivers twice or loses anything, and it checks no permissions: only AWS shows these. Only tests import it. Start
// with [Start].
package sqstest
