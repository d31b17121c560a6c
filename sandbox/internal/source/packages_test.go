package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPackagesOfManyFiles checks that files which are read at the same time may all import packages.
func TestPackagesOfManyFiles(t *testing.T) {
	t.Parallel()
	packages := Packages{Names: map[string]bool{}, Ahead: map[string]bool{}, Files: map[string][]byte{}}
	files, want := map[string][]byte{}, []string{}
	var code strings.Builder
	for i := range 100 {
		ahead, installed := fmt.Sprint("ahead", i), fmt.Sprint("installed", i)
		packages.Names[ahead], packages.Names[installed], packages.Ahead[ahead] = true, true, true
		packages.Files["node_modules/"+installed+"/index.js"] = []byte("export default 1")
		files[fmt.Sprintf("f%d.js", i)] = fmt.Appendf(nil, "import a from %q; import b from %q; export default a + b",
			ahead, installed)
		fmt.Fprintf(&code, "import f%d from './f%d.js';\n", i, i)
		want = append(want, "import "+ahead)
	}
	slices.Sort(want)
	for range 10 {
		s, ex := Of(Input{Code: code.String() + "f0", Files: files, Packages: packages})
		if ex != nil {
			t.Fatal(ex)
		}
		if got := s.Ahead(); !slices.Equal(got, want) || len(s.Installed()) != 100 {
			t.Fatalf("%d evaluated before the code, %d in it", len(got), len(s.Installed()))
		}
	}
}
