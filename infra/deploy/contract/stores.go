package contract

import "strings"

func checkBuckets(t *template, r *report) {
	for _, name := range t.each("AWS::S3::Bucket") {
		b := t.resources[name]
		encrypted := false
		for _, rule := range list(get(b.props, "BucketEncryption", "ServerSideEncryptionConfiguration")) {
			by := get(rule, "ServerSideEncryptionByDefault")
			encrypted = encrypted || text(get(by, "SSEAlgorithm")) == "aws:kms" &&
				t.resources[target(get(by, "KMSMasterKeyID"))].kind == "AWS::KMS::Key"
		}
		if !encrypted {
			r.add("bucket-encryption", name, "must be encrypted with aws:kms under the stack's own key")
		}
		for _, block := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
			if get(b.props, "PublicAccessBlockConfiguration", block) != true {
				r.add("bucket-public", name, "%s must be true", block)
			}
		}
		if text(get(b.props, "VersioningConfiguration", "Status")) != "Enabled" {
			r.add("bucket-versioning", name, "must keep versions")
		}
		if len(list(get(b.props, "LifecycleConfiguration", "Rules"))) == 0 {
			r.add("bucket-lifecycle", name, "must say when what it holds ends")
		}
		if text(b.attrs["DeletionPolicy"]) != "Retain" || text(b.attrs["UpdateReplacePolicy"]) != "Retain" {
			r.add("bucket-retain", name, "DeletionPolicy and UpdateReplacePolicy must be Retain")
		}
		if strings.HasPrefix(name, "Audit") {
			locked := b.props["ObjectLockEnabled"] == true &&
				get(b.props, "ObjectLockConfiguration", "Rule", "DefaultRetention", "Mode") != nil
			if !locked {
				r.add("bucket-lock", name, "must have Object Lock with a default retention")
			}
		}
		if !tlsOnly(t, name) {
			r.add("bucket-tls", name, "needs a policy that denies requests without TLS, on the bucket and on its objects")
		}
	}
}

// tlsOnly reports whether a bucket policy denies everything without TLS to everybody, on the bucket and its objects.
func tlsOnly(t *template, bucket string) bool {
	for _, name := range t.each("AWS::S3::BucketPolicy") {
		props := t.resources[name].props
		if target(props["Bucket"]) != bucket {
			continue
		}
		for _, s := range list(get(props["PolicyDocument"], "Statement")) {
			objects, itself := false, false
			for _, res := range list(get(s, "Resource")) {
				objects = objects || strings.HasSuffix(text(res), "/*") && target(res) == bucket
				itself = itself || text(res) == "" && target(res) == bucket
			}
			if objects && itself && deniesPlain(s) {
				return true
			}
		}
	}
	return false
}

func deniesPlain(s any) bool {
	everything := false
	for _, action := range list(get(s, "Action")) {
		everything = everything || text(action) == "*" || strings.HasSuffix(text(action), ":*")
	}
	insecure := get(s, "Condition", "Bool", "aws:SecureTransport")
	return everything && text(get(s, "Effect")) == "Deny" && publicPrincipal(get(s, "Principal")) &&
		(insecure == "false" || insecure == false)
}

func checkQueues(t *template, r *report) {
	guarded := map[string]bool{}
	for _, name := range t.each("AWS::SQS::QueuePolicy") {
		props := t.resources[name].props
		for _, s := range list(get(props["PolicyDocument"], "Statement")) {
			for _, queue := range list(props["Queues"]) {
				guarded[target(queue)] = guarded[target(queue)] || deniesPlain(s)
			}
		}
	}
	for _, name := range t.each("AWS::SQS::Queue") {
		props := t.resources[name].props
		if props["SqsManagedSseEnabled"] != true && props["KmsMasterKeyId"] == nil {
			r.add("queue-encryption", name, "must be encrypted")
		}
		if !guarded[name] {
			r.add("queue-tls", name, "needs a policy that denies requests without TLS")
		}
	}
}

func checkKeys(t *template, r *report) {
	for _, name := range t.each("AWS::KMS::Key") {
		if t.resources[name].props["EnableKeyRotation"] != true {
			r.add("key-rotation", name, "must rotate")
		}
	}
}

func checkLogs(t *template, r *report) {
	for _, name := range t.each("AWS::Logs::LogGroup") {
		props := t.resources[name].props
		if props["RetentionInDays"] == nil {
			r.add("log-retention", name, "must say how long logs are kept")
		}
		if props["KmsKeyId"] == nil {
			r.add("log-encryption", name, "must be encrypted with the stack's key")
		}
	}
}

// checkSecrets reports secrets that everybody who may read the template or the stack's parameters can see.
func checkSecrets(t *template, r *report) {
	secret := func(name string) bool {
		upper := strings.ToUpper(name)
		for _, end := range []string{"SECRET", "API_KEY", "_KEYS", "PASSWORD", "TOKEN"} {
			if strings.HasSuffix(upper, end) {
				return true
			}
		}
		return false
	}
	for name, p := range asObject(t.root["Parameters"]) {
		if secret(name) && get(p, "NoEcho") != true {
			r.add("secret-parameter", name, "a parameter that holds a secret must be NoEcho, or better not be")
		}
	}
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		for variable, value := range asObject(get(t.resources[name].props, "Environment", "Variables")) {
			for _, v := range branches(value) {
				if secret(variable) && !strings.HasPrefix(text(v), "{{resolve:secretsmanager:") {
					r.add("secret-plain", name, "%s must come from Secrets Manager", variable)
				}
			}
		}
	}
	for _, name := range t.each("AWS::ECS::TaskDefinition") {
		for _, c := range list(t.resources[name].props["ContainerDefinitions"]) {
			for _, e := range list(get(c, "Environment")) {
				if secret(text(get(e, "Name"))) {
					r.add("secret-plain", name, "%s must be among the container's Secrets", text(get(e, "Name")))
				}
			}
		}
	}
}

func checkTables(t *template, r *report) {
	for _, name := range t.each("AWS::DynamoDB::Table") {
		table := t.resources[name]
		if get(table.props, "SSESpecification", "SSEEnabled") != true {
			r.add("table-encryption", name, "must be encrypted with a key of the account")
		}
		if get(table.props, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
			r.add("table-recovery", name, "must have point-in-time recovery")
		}
		if text(table.attrs["DeletionPolicy"]) != "Retain" || text(table.attrs["UpdateReplacePolicy"]) != "Retain" {
			r.add("table-retain", name, "DeletionPolicy and UpdateReplacePolicy must be Retain")
		}
	}
}
