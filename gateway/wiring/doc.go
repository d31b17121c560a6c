// Package wiring is the composition root of the gateway: it turns [settings.Settings] into stores, pools and a running
// gateway. It is the only package below gateway/ that knows package infra, and only package cli and tests import it.
//
//	settings.Settings ─▶ Inputs   the policy and the MCP servers, which SIGHUP reloads
//	                  ─▶ Fleet    function processes of this machine, or a Lambda function
//	                  ─▶ core     what every gateway has: records, state, fleet, scan workers
//	                  ─▶ Gateway  HTTP, with telemetry, anchors, index and retention
//
// An error that a setting causes is a *settings.Error; every other error is the platform's.
//
// Start with [Open] in gateway.go.
package wiring
