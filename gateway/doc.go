// Package gateway is the edge: where a request from the outside becomes an execution, and its outcome an HTTP answer.
//
// The life of one request, as routes.go lists it:
//
// The connection is fasthttp's. What is not plain HTTP/1.1 (two lengths, a length and a coding, control bytes in
// names), is larger than the body limit, or arrives slower than the read timeout never reaches a handler. dress gives
// the request its id and the answer its security headers. Where no credential is configured the gateway serves on a
// loopback address only, and guard refuses what a web page could have sent: a foreign Host (DNS rebinding), a foreign
// Origin. Then CORS for the configured origins, who is calling (package authn), and how often (package ratelimit).
//
// execute tells the rest: the body is decoded strictly, [policy.Set] decides (judging.go: callers take turns, and
// code that is not proved cheap is read by a [CodeScanner] in another process, which can be killed), a blocked script
// is answered at once, the others wait for a place (package queue), go to a function through the [Invoker], and come
// back as an [execution.Result] that has its audit record: written by the function, or by the gateway when the
// function ended without a word. When no record can be written the result is withheld. A guest's failure is HTTP 200;
// an error status always means that the request, the caller or the platform was at fault, and always carries a
// problem document (problem.go). A caller who hangs up stops the run and loses no record.
//
// Some executions nobody waits for: those accepted with Prefer: respond-async, those of webhooks that are
// acknowledged first, and those that the clock starts. They are jobs (package jobs), kept in the [State] before
// anybody is told so, and go the way of all others when their turn comes; whoever asked for it is called back
// (package callbacks, and egress for where that may lead). What runs may have a name: a saved function (package
// functions) is code, of one version or another, that callers invoke, that webhooks reach at /hooks once their
// senders are verified (package hooks), and that schedules start (package schedule).
//
// Agents come in by /mcp (agents.go, package mcp) and take the same way: bridge.go carries the SDK's streaming
// handler. A trace context is taken from a request, said in its answer and given to the function; with a tracer,
// requests and executions are spans of it (trace.go). What is served is described by package openapi, which tests
// hold to the routes.
//
// What has happened is told from the records alone, by those who may read them: lists and single records (audit.go,
// report.go), summaries (summary.go), the last while as a whole (figures.go) and step by step for charts (series.go:
// /api/metrics/series has counts, times, findings by severity and category, blocked and allowed, and the top
// tenants). An [Index] over the records answers; without one, and while it is behind, the newest records are looked
// at, and the answer says that it is not complete. What is counted in memory (/metrics, /api/stats) begins anew with
// every process.
//
// People come in by a browser (pages.go, package console). A login turns a credential into a session (login.go),
// which is taken for that credential in requests of our own pages; behind that the pages use the API as everybody
// does. What they show is kept up to date by /api/live (live.go, scenes.go): pictures of what goes on (activity.go),
// of the figures and of the last records. What a page would ask for besides is the API's too: a replay (replay.go),
// and whether the records' chains are sound (verification.go).
//
// Handlers copy what they keep: fasthttp reuses its buffers.
package gateway
