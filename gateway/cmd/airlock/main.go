// Command airlock is the gateway, the function process and the tools around them in one binary.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)) }
