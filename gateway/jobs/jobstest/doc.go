// Package jobstest is a suite about executions that wait while processes stop and lose their connections, for each
// store that keeps them. Only tests import it. Start with [TestWaitingFaults].
package jobstest
