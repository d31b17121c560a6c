package execution

import "strings"

// MaxSubjectBytes bounds Caller.Subject.
const MaxSubjectBytes = 1024

// The kinds of callers, with which a Caller.Subject begins. No two kinds share a subject. A gateway adds kinds of its
// own; see package authn.
const (
	KindToken      = "jwt:"        // a JSON Web Token; see TokenSubject
	KindIAM        = "iam:"        // the ARN that AWS authenticated
	KindAuthorizer = "authorizer:" // the principal that a Lambda authorizer named
	KindQueue      = "sqs:"        // the sender of a message
	KindTopic      = "sns:"        // the topic of a notification
	KindBus        = "events:"     // the source of an event, or the rule of a scheduled one
)

// Subject returns the subject of a kind of caller, or "" if the caller has no name.
func Subject(kind, name string) string {
	if name == "" {
		return ""
	}
	return kind + name
}

// TokenSubject returns the subject of a token from its iss and sub. It writes % and / of sub as %25 and %2F, so that
// the last / separates the two.
func TokenSubject(issuer, sub string) string {
	return KindToken + issuer + "/" + strings.NewReplacer("%", "%25", "/", "%2F").Replace(sub)
}

// TokenSub returns the sub of a subject that TokenSubject made. isToken is false for any other subject.
func TokenSub(subject string) (sub string, isToken bool) {
	if !strings.HasPrefix(subject, KindToken) {
		return "", false
	}
	escaped := subject[strings.LastIndexByte(subject, '/')+1:]
	return strings.NewReplacer("%25", "%", "%2F", "/").Replace(escaped), true
}
