package wiring

// What the tests of package wiring_test reach.
var (
	KeepAnchored   = keepAnchored
	VerifyAnchored = verifyAnchored
	AboutBuilds    = aboutBuilds
)
