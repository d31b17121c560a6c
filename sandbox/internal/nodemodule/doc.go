// Package nodemodule lists the names of Node's own modules. The bundler leaves imports of them to run time, and the
// host decides there which of them a run may load; both must mean the same names. Start with [Name].
package nodemodule
