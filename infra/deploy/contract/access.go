package contract

import (
	"strings"
)

// statement is one statement of a policy document.
type statement struct {
	in       string // the resource that holds it
	identity bool   // grants to every user of the role; else it guards a resource
	body     object
}

// allowedManaged reports whether a managed policy may be attached: X-Ray accepts no narrower resource than all
// traces.
func allowedManaged(arn string) bool {
	return strings.HasSuffix(arn, ":iam::aws:policy/AWSXRayDaemonWriteAccess")
}

// statements returns every statement of every policy in the template.
func statements(t *template) []statement {
	var out []statement
	document := func(in string, identity bool, doc any) {
		for _, d := range branches(doc) {
			for _, s := range list(get(d, "Statement")) {
				out = append(out, statement{in: in, identity: identity, body: asObject(s)})
			}
		}
	}
	for _, name := range t.each("AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy",
		"AWS::Serverless::Function") {
		props := t.resources[name].props
		document(name, true, props["PolicyDocument"])
		for _, p := range list(props["Policies"]) {
			document(name, true, p)
			document(name, true, get(p, "PolicyDocument"))
		}
	}
	for _, name := range t.each("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy") {
		document(name, false, t.resources[name].props["PolicyDocument"])
	}
	for _, name := range t.each("AWS::KMS::Key") {
		document(name, false, t.resources[name].props["KeyPolicy"])
	}
	return out
}

// checkStatements reports wildcards in allowed actions and resources, and policies that others can widen.
func checkStatements(t *template, r *report) {
	for _, s := range statements(t) {
		if text(s.body["Effect"]) != "Allow" {
			continue
		}
		if s.body["NotAction"] != nil || s.body["NotResource"] != nil || s.body["NotPrincipal"] != nil {
			r.add("not-element", s.in, "an Allow that says what it leaves out allows everything else")
		}
		for _, action := range list(s.body["Action"]) {
			if strings.ContainsAny(text(action), "*?") {
				r.add("action-wildcard", s.in, "allows %s", text(action))
			}
		}
		for _, res := range list(s.body["Resource"]) {
			if s.identity && broad(text(res)) {
				r.add("resource-wildcard", s.in, "allows on %s", text(res))
			}
		}
		if !s.identity && s.body["Condition"] == nil && publicPrincipal(s.body["Principal"]) {
			r.add("principal-wildcard", s.in, "allows everybody")
		}
	}
	for _, name := range t.each("AWS::IAM::Role", "AWS::Serverless::Function") {
		props := t.resources[name].props
		for _, p := range append(list(props["ManagedPolicyArns"]), list(props["Policies"])...) {
			if arn := text(p); arn != "" && !allowedManaged(arn) {
				r.add("managed-policy", name, "attaches %s, whose contents are not ours", arn)
			}
		}
	}
	for _, name := range t.each("AWS::Lambda::Permission") {
		props := t.resources[name].props
		throughURL := text(props["FunctionUrlAuthType"]) == "NONE" || props["InvokedViaFunctionUrl"] == true
		if publicPrincipal(props["Principal"]) && !throughURL {
			r.add("principal-wildcard", name, "lets everybody invoke the function")
		}
		if principal := text(props["Principal"]); strings.HasSuffix(principal, ".amazonaws.com") &&
			props["SourceArn"] == nil {
			r.add("principal-wildcard", name, "lets %s invoke on behalf of any account: SourceArn is missing", principal)
		}
	}
}

// broad reports whether an ARN leaves the resource open. A wildcard after the resource's own name stands for its
// content.
func broad(arn string) bool {
	if arn == "*" || arn == "" {
		return arn == "*"
	}
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return !strings.HasPrefix(arn, "${") && strings.ContainsAny(arn, "*?")
	}
	for _, p := range parts[:5] {
		if strings.ContainsAny(p, "*?") {
			return true
		}
	}
	name, _, _ := strings.Cut(parts[5], "/")
	return strings.ContainsAny(name, "*?") || strings.HasSuffix(parts[5], ":*") && strings.Count(parts[5], ":") < 2
}

func publicPrincipal(v any) bool {
	for _, p := range list(v) {
		if text(p) == "*" {
			return true
		}
		for _, id := range list(get(p, "AWS")) {
			if text(id) == "*" {
				return true
			}
		}
	}
	return false
}

// packagesARN begins the ARNs of the npm packages of the deployment.
const packagesARN = "arn:${AWS::Partition}:s3:::${Packages}/"

// readsOnly reports whether an action reads what the role that runs code may read: what was handed over to it, and the
// packages of the deployment.
func readsOnly(action, arn string) bool {
	return action == "s3:GetObject" && (strings.HasSuffix(arn, "/handover/*") || arn == packagesARN+"packages.json" ||
		arn == packagesARN+"archives/*")
}

// checkWriteOnly checks that the role that runs code can add audit records and do nothing else to them, and that it
// reads only what was handed over to it and the packages of the deployment.
func checkWriteOnly(t *template, r *report) {
	running := map[string]bool{}
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		props := t.resources[name].props
		if get(props, "Environment", "Variables", "INVOKER") == nil {
			running[target(props["Role"])] = true
		}
	}
	for _, s := range statements(t) {
		if !s.identity || !running[s.in] || text(s.body["Effect"]) != "Allow" {
			continue
		}
		for _, res := range list(s.body["Resource"]) {
			bucket := t.resources[target(res)]
			if bucket.props["ObjectLockEnabled"] != true {
				for _, action := range list(s.body["Action"]) {
					if strings.HasPrefix(text(action), "s3:") && !readsOnly(text(action), text(res)) {
						r.add("read-only", s.in, "may %s on %s; code may be given s3:GetObject below handover/ and of packages alone",
							text(action), text(res))
					}
				}
				continue
			}
			for _, action := range list(s.body["Action"]) {
				if text(action) != "s3:PutObject" {
					r.add("write-only", s.in, "may %s on the audit store", text(action))
				}
			}
			if !strings.HasSuffix(text(res), "/audit/executions/*") && !strings.HasSuffix(text(res), "/audit/writers/*") {
				r.add("write-only", s.in, "may write to the audit store outside audit/executions/ and audit/writers/: %s",
					text(res))
			}
		}
	}
}
