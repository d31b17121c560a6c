// Package mcptools lets guests call the tools of Model Context Protocol servers as namespace.method(params). The
// deployment attaches servers ([Parse]), the gateway lists their tools ([Catalogue]), and the function that runs an
// execution calls them ([Servers.Begin]). Resources and prompts are read by tools that are named after the methods of
// the protocol ([execution.ServerMethods]), and listed for clients ([Catalogue.Offers]).
//
// The gateway keeps a session with each server, to list its tools and to learn of changes; the list of servers may be
// replaced at any time ([Catalogue.Replace]).
//
// A session for calls belongs to one execution: the first call opens it, later calls use it, a lost one is opened
// again, and the end of the execution closes it. The state that a server keeps for one guest never reaches another.
// Only the function knows a server's credential: it is sent to the server's own origin only, and removed from answers
// that repeat it.
//
// A server is reached at a URL, or is a command, which the gateway starts. All executions share its process and its
// one session. The gateway makes the calls ([Catalogue.Call]), and the function asks it for them as for tools of the
// caller.
//
// Packages wiring, settings and process import it. Start with [Catalogue] and [Execution].
package mcptools
