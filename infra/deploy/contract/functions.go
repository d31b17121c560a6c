package contract

import (
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// The margin of a function beyond its tier's time: enough to decide, record and answer, and no more than after which
// another function may run the same job.
const (
	leastGrace = 3 * time.Second
	mostGrace  = execution.Grace
)

func checkFunctions(t *template, tiers []Tier, r *report) {
	served := map[string]bool{}
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		props := t.resources[name].props
		timeout, memory := number(props["Timeout"]), number(props["MemorySize"])
		if timeout <= 0 || timeout > 900 {
			r.add("function-timeout", name, "must have a Timeout of its own, in seconds")
		}
		if memory <= 0 {
			r.add("function-memory", name, "must have a MemorySize of its own, in MiB")
		}
		if tier, ok := tierOf(tiers, text(props["FunctionName"])); ok {
			served[tier.Name] = true
			checkTier(name, tier, timeout, memory, r)
		}
		checkHygiene(t, name, r)
	}
	for _, tier := range tiers {
		if !served[tier.Name] {
			r.add("tier-missing", tier.Name, "no function's FunctionName ends in -%s", tier.Name)
		}
	}
}

func checkTier(name string, tier Tier, timeout, memory int64, r *report) {
	grace := time.Duration(timeout)*time.Second - tier.Timeout
	if timeout > 0 && (grace < leastGrace || grace > mostGrace) {
		r.add("function-timeout", name, "tier %s runs for up to %v: Timeout must be %v to %v more, not %v", tier.Name,
			tier.Timeout, leastGrace, mostGrace, grace)
	}
	if need := (tier.MemoryBytes + ProcessBytes) >> 20; memory > 0 && memory < need {
		r.add("function-memory", name, "tier %s needs %d MiB, not %d", tier.Name, need, memory)
	}
}

func tierOf(tiers []Tier, functionName string) (Tier, bool) {
	for _, tier := range tiers {
		if strings.HasSuffix(functionName, "-"+tier.Name) {
			return tier, true
		}
	}
	return Tier{}, false
}

// checkHygiene checks what every function must have.
func checkHygiene(t *template, name string, r *report) {
	props := t.resources[name].props
	if text(props["Runtime"]) != "provided.al2023" {
		r.add("function-runtime", name, "must run on provided.al2023")
	}
	if len(branches(props["VpcConfig"])) > 0 {
		r.add("function-vpc", name, "must not be in a VPC: code would reach its neighbours")
	}
	if len(branches(props["ReservedConcurrentExecutions"])) == 0 {
		r.add("function-concurrency", name, "must have a bound on how many run at once")
	}
	if text(props["Tracing"]) != "Active" && text(get(props, "TracingConfig", "Mode")) != "Active" {
		r.add("function-tracing", name, "must be traced")
	}
	if t.resources[target(get(props, "LoggingConfig", "LogGroup"))].kind != "AWS::Logs::LogGroup" {
		r.add("function-logs", name, "must log to a log group of this stack, whose retention is known")
	}
	if t.resources[target(props["Role"])].kind != "AWS::IAM::Role" {
		r.add("function-role", name, "must have a role of this stack, whose powers are known")
	}
	if len(branches(props["KmsKeyArn"])) == 0 {
		r.add("function-encryption", name, "settings must be encrypted with the stack's key")
	}
}

// checkSources checks that no event is lost or repeated silently.
func checkSources(t *template, r *report) {
	for _, name := range t.each("AWS::Lambda::EventSourceMapping") {
		props := t.resources[name].props
		partial := false
		for _, answer := range list(props["FunctionResponseTypes"]) {
			partial = partial || text(answer) == "ReportBatchItemFailures"
		}
		if !partial {
			r.add("queue-partial", name, "must take partial batch failures")
		}
		queue := t.resources[target(props["EventSourceArn"])]
		if queue.kind == "AWS::SQS::Queue" && get(queue.props, "RedrivePolicy", "deadLetterTargetArn") == nil {
			r.add("queue-redrive", name, "the queue must keep messages that fail at every attempt")
		}
	}
	for _, name := range t.each("AWS::Serverless::Function") {
		invoke := asObject(t.resources[name].props["EventInvokeConfig"])
		if get(t.resources[name].props, "Environment", "Variables", "INVOKER") != nil {
			continue
		}
		if number(invoke["MaximumRetryAttempts"]) != 0 || invoke["MaximumRetryAttempts"] == nil ||
			get(invoke, "DestinationConfig", "OnFailure") == nil {
			r.add("async-failure", name, "asynchronous events must not be run again, and be kept when they fail")
		}
	}
}

// checkNetwork checks the gateway in a container: TLS outside, no public address, and no root inside.
func checkNetwork(t *template, r *report) {
	for _, name := range t.each("AWS::ElasticLoadBalancingV2::Listener") {
		props := t.resources[name].props
		if text(props["Protocol"]) != "HTTPS" || !strings.Contains(text(props["SslPolicy"]), "TLS13") {
			r.add("listener-tls", name, "must take HTTPS only, with TLS 1.2 or later")
		}
	}
	for _, name := range t.each("AWS::ECS::Service") {
		if text(get(t.resources[name].props, "NetworkConfiguration", "AwsvpcConfiguration", "AssignPublicIp")) != "DISABLED" {
			r.add("task-public", name, "tasks must have no public address")
		}
	}
	for _, name := range t.each("AWS::ECS::TaskDefinition") {
		for _, c := range list(t.resources[name].props["ContainerDefinitions"]) {
			user := text(get(c, "User"))
			if user == "" || user == "0" || user == "root" || get(c, "ReadonlyRootFilesystem") != true {
				r.add("task-root", name, "containers must run as another user than root, on a read-only file system")
			}
		}
	}
	for _, name := range t.each("AWS::EC2::SecurityGroup") {
		for _, rule := range list(t.resources[name].props["SecurityGroupIngress"]) {
			open := text(get(rule, "CidrIp")) == "0.0.0.0/0" || text(get(rule, "CidrIpv6")) == "::/0"
			if open && (number(get(rule, "FromPort")) != 443 || number(get(rule, "ToPort")) != 443) {
				r.add("network-open", name, "only port 443 may be open to everybody")
			}
		}
	}
}

func number(v any) int64 {
	switch n := v.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	}
	return 0
}
