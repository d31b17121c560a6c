package scan

// Work returns what scanning the code takes, in units, and what it may take.
func Work(code, language string) (taken, most int) {
	a := analysis{catalogue: newCatalogue()}
	return a.source(code, language, workFor(len(code))).work, workFor(len(code))
}
