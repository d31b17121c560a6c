package wiring

// These are exported to package wiring_test.
var (
	KeepAnchored   = keepAnchored
	VerifyAnchored = verifyAnchored
	AboutBuilds    = aboutBuilds
)
