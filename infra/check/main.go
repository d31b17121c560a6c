// Check measures what the linters do not: the size of packages and types, the length of lines, the form of comments,
// the conditions of tests, the import table, the links between documents, and the size of tracked files. It prints
// every measure above its limit and ends with exit code 1.
//
// infra/check/allow.txt lists the exceptions that still exist, each with its number. A number may only shrink:
//
//	go run ./infra/check             measure
//	go run ./infra/check -update     lower the numbers of allow.txt, and bring the import tables of documents up to date
//	go run ./infra/check -v          name every long line and every comment, not only the first three of a package
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

const allowFile = "infra/check/allow.txt"

func main() {
	update := flag.Bool("update", false, "lower the numbers of "+allowFile+", update the tables of documents")
	verbose := flag.Bool("v", false, "name every place")
	flag.Parse()
	grown, err := run(os.Stdout, *update, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if grown {
		os.Exit(1)
	}
}

// run measures the repository around the working directory. It reports whether anything exceeds its limit or exception.
func run(out io.Writer, update, verbose bool) (grown bool, err error) {
	files, err := trackedFiles()
	if err != nil {
		return false, err
	}
	packages, err := parsePackages(files)
	if err != nil {
		return false, err
	}
	allowed, err := readAllowed(allowFile)
	if err != nil {
		return false, err
	}
	found := measure(packages)
	found = append(found, largeFiles(files)...)
	scripts, err := badScriptComments(files)
	if err != nil {
		return false, err
	}
	for _, dir := range slices.Sorted(maps.Keys(scripts)) {
		found = append(found, finding{exception{"script", dir}, len(scripts[dir]), scripts[dir]})
	}
	tables, err := staleTables(files, update)
	if err != nil {
		return false, err
	}
	found = append(found, tables...)
	links, err := brokenLinks(files)
	if err != nil {
		return false, err
	}
	found = append(found, links...)
	if update {
		return false, allowed.lower(found).write(allowFile)
	}
	for _, f := range found {
		if f.number <= allowed[f.exception] {
			continue
		}
		grown = true
		fmt.Fprintf(out, "%s %s %d: %s\n", f.rule, f.key, f.number, f.message(allowed[f.exception]))
		places := f.places
		if !verbose && len(places) > 3 {
			places = places[:3]
		}
		for _, p := range places {
			fmt.Fprintln(out, "\t"+p)
		}
	}
	if stale := allowed.stale(found); stale > 0 {
		fmt.Fprintf(out, "%d exceptions in %s are larger than needed: go run ./infra/check -update\n", stale, allowFile)
	}
	return grown, nil
}
