package audit

import "regexp"

// pattern recognises a credential by its form. marks are case-sensitive: only text that contains one of them is
// searched.
type pattern struct {
	marks []string
	expr  *regexp.Regexp
	with  string
}

// patterns returns the compiled patterns. The formats are those that their issuers publish. All expressions run in
// linear time.
func patterns() []pattern {
	p := func(kind, expr string, marks ...string) pattern {
		return pattern{marks, regexp.MustCompile(expr), "${1}[redacted:" + kind + "]${2}"}
	}
	return []pattern{
		p("private key", `()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: `+
			`BLOCK)?-----|$)`, "PRIVATE KEY"),
		p("jwt", `()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}`, "eyJ"),
		p("bearer", `(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`, "earer", "EARER"),
		p("basic", `(?i)(\bbasic\s+)[A-Za-z0-9+/]{8,}={0,2}`, "asic ", "ASIC "),
		p("aws key id", `()\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z2-7]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA", "AROA",
			"AIDA"),
		p("aws secret", `(?i)(aws_?(?:secret_?access_?key|session_?token)["']?\s*[:=]\s*["']?)[A-Za-z0-9/+=]{40,}`, "aws",
			"Aws", "AWS"),
		p("github", `()\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
			"github_pat_"),
		p("slack", `()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "xox"),
		p("stripe", `()\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{16,}`, "k_live_", "k_test_", "whsec_"),
		p("google", `()\bAIza[A-Za-z0-9_-]{35}`, "AIza"),
		p("api key", `()\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}`, "sk-"),
		p("npm", `()\bnpm_[A-Za-z0-9]{36}`, "npm_"),
		p("gitlab", `()\bglpat-[A-Za-z0-9_-]{20,}`, "glpat-"),
		p("sendgrid", `()\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "SG."),
		p("hugging face", `()\bhf_[A-Za-z0-9]{30,}`, "hf_"),
		p("google", `()\bya29\.[A-Za-z0-9_-]{20,}`, "ya29."),
		p("slack", `(\bhooks\.slack\.com/services/)[A-Za-z0-9/]{20,}`, "hooks.slack.com"),
		p("azure", `((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{20,}={0,2}`, "AccountKey=", "SharedAccessKey="),
		p("parameter", `(?i)([?&](?:access_token|auth_token|api_?key|token|secret|password|sig|signature|x-amz-signature|`+
			`x-amz-security-token)=)[^&#\s"'<>`+"`"+`\\]+`,
			"oken=", "OKEN=", "ey=", "EY=", "ecret=", "ECRET=", "assword=", "ASSWORD=", "sig=", "SIG=", "ignature=",
			"IGNATURE="),
		p("assigned", `(?i)((?:password|passwd|passphrase|api[_-]?key|(?:access|auth|refresh)[_-]?token|client[_-]?secret|`+
			`(?:secret|private)[_-]?key)["']?\s*[:=]\s*["'`+"`"+`])[^"'`+"`"+`\r\n]{4,}(["'`+"`"+`])`,
			"assw", "ASSW", "assph", "ASSPH", "ey", "EY", "oken", "OKEN", "ecret", "ECRET"),
		p("password", `(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']*:)[^\s/@"']+(@)`, "://"),
	}
}
