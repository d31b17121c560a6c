// Package registrytest is an npm registry for tests. Only tests import it. Start with [New].
package registrytest
