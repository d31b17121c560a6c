package events

import "strings"

// unserved recognizes events of the provider that are known and not served, so that wrong wiring is not reported as a
// malformed request. It runs before the served kinds are detected, because some of these events match them too.
func unserved(top fields) (name string, known bool) {
	rc := top.object("requestContext")
	switch {
	case rc.has("connectionId"):
		return "an API Gateway WebSocket event", true
	case top.has("methodArn"), top.has("routeArn"):
		return "an API Gateway authorizer request", true
	case top.has("identity") && rc.has("apiId", "queryString"), top.has("authorizationToken") && rc.has("queryString"):
		return "an AppSync authorizer request", true
	case top.has("raw_path") && top.has("method"), rc.has("serviceArn", "targetGroupArn"):
		return "a VPC Lattice request", true
	case top.has("triggerSource", "userPoolId"):
		return "a Cognito user pool trigger", true
	case top.has("awslogs"):
		return "a CloudWatch Logs event", true
	case top.has("deliveryStreamArn", "records"):
		return "a Firehose transformation event", true
	case top.has("applicationArn", "records"):
		return "a Kinesis Analytics event", true
	case top.has("eventSource"):
		return "an event of \"" + clip(strings.ToValidUTF8(top.text("eventSource"), "")) + "\"", true
	case top.has("invocationSchemaVersion", "tasks"):
		return "an S3 batch job", true
	case top.has("getObjectContext") || top.has("xAmzRequestId"):
		return "an S3 Object Lambda request", true
	case top.has("CodePipeline.job"):
		return "a CodePipeline job", true
	case top.has("invokingEvent"):
		return "an AWS Config event", true
	case top.has("SecretId", "ClientRequestToken", "Step"):
		return "a Secrets Manager rotation", true
	case top.has("StackId", "LogicalResourceId", "ResponseURL"):
		return "a CloudFormation custom resource request", true
	case top.has("bot", "currentIntent") || top.has("bot", "sessionState"):
		return "a Lex event", true
	}
	return "", false
}
