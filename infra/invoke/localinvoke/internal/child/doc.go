// Package child starts, measures and kills child processes with what the operating system offers. Where a system does
// not offer something, the measure is 0 or [Unknown] and the process ends when its standard input does. Only package
// localinvoke imports it. Start with [Spawner].
package child
