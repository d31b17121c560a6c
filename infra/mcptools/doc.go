// Package mcptools makes the tools of Model Context Protocol servers the guest's, as namespace.method(params): the
// deployment attaches servers ([Parse]), the gateway lists their tools ([Catalogue]), and the function that runs an
// execution calls them ([Servers.Begin]).
//
// The gateway keeps a session of its own with each server, to list its tools and to hear when they change; the list
// of servers may be replaced meanwhile ([Catalogue.Replace]).
//
// A session for calls belongs to one execution: it is opened by the first call, used by those that follow, opened
// anew when it was lost, and closed when the execution ends. What a server remembers of one guest no other guest
// meets. A server's credential is known to the function and to nobody else: it is sent to the server's own origin
// only, and where an answer repeats it, it is taken out.
package mcptools
