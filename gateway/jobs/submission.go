package jobs

import (
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
)

// JobOf returns a submission as it is stored. Of the caller's scopes, only those that the policy decides by are
// needed later.
func JobOf(s api.Submission) execution.Job {
	return execution.Job{
		ID: s.ID, Tenant: s.Caller.Tenant, Subject: s.Caller.Subject, Kinds: true,
		Scopes: authn.RestrictingScopes(s.Caller.Scopes), IP: s.IP, Via: s.Via,
		Function: s.Function, Fresh: s.Fresh, TraceParent: s.TraceParent, ReceivedAt: s.ReceivedAt,
		Status: execution.Queued, Request: s.Request,
	}
}

// SubmissionOf returns the submission of a stored job.
func SubmissionOf(job execution.Job) api.Submission {
	if job.Via == execution.ViaHook { // an earlier release may have stored credentials
		job.Request.Input = webhook.WithoutCredentials(job.Request.Input)
	}
	return api.Submission{
		ID: job.RunID(), Caller: ownerOf(job), IP: job.IP, Via: job.Via, Function: job.Function, Fresh: job.Fresh,
		TraceParent: job.TraceParent, ReceivedAt: job.ReceivedAt, Request: job.Request,
		Stored: true,
	}
}

// ownerOf returns who submitted a job. The subject of a webhook or schedule had its kind in older versions, too.
func ownerOf(job execution.Job) authn.Identity {
	id := authn.Identity{Subject: job.Subject, Tenant: job.Tenant}
	if !job.Kinds && job.Via != execution.ViaHook && job.Via != execution.ViaSchedule {
		id = authn.Former(job.Tenant, job.Subject)
	}
	id.Scopes = job.Scopes
	return id
}
