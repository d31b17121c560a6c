// Command sim prints the figures of infra/deploy/SCALE.md:
//
//	go run ./infra/deploy/sim [-seed 1]
//
// The queueing figures come from a discrete-event simulation of one tier's function behind the gateway's bounded queue
// (queue.go); costs, concurrency and request rates are formulas over public prices and limits (price.go) and stated
// assumptions about the work (work.go). The same seed gives the same text. Nothing is measured on AWS: a person who has an
// account replaces the assumptions with what their dashboard shows.
package main
