package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// badComments returns the places of the doc comments that do not follow the idiom of godoc. The comment of a function
// begins with its name and a verb in the third person; that of a type begins with its name, perhaps behind an article.
func badComments(p *goPackage) []string {
	var out []string
	for _, f := range p.sources() {
		check := func(name string, doc *ast.CommentGroup, fits func(name, text string) bool) {
			if doc == nil {
				return
			}
			text := strings.TrimSpace(doc.Text())
			if text == "" || strings.HasPrefix(text, "Deprecated:") || fits(name, text) {
				return
			}
			first, _, _ := strings.Cut(text, "\n")
			out = append(out, f.name+":"+strconv.Itoa(f.set.Position(doc.Pos()).Line)+": "+first)
		}
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Name.Name, d.Doc, fitsFunc)
			case *ast.GenDecl:
				if d.Tok != token.TYPE {
					continue
				}
				for _, s := range d.Specs {
					t := s.(*ast.TypeSpec)
					if check(t.Name.Name, t.Doc, fitsType); t.Doc == nil && len(d.Specs) == 1 {
						check(t.Name.Name, d.Doc, fitsType)
					}
				}
			}
		}
	}
	return out
}

// fitsFunc reports whether a function's comment begins with the name and a verb: "Name returns …".
func fitsFunc(name, text string) bool {
	words := strings.Fields(text)
	return len(words) > 1 && words[0] == name && isVerb(words[1])
}

// fitsType reports whether a type's comment begins with the name, perhaps behind an article: "A Name is …".
func fitsType(name, text string) bool {
	words := strings.Fields(text)
	if len(words) > 0 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	return len(words) > 1 && words[0] == name && words[1] != "gives"
}

// isVerb reports whether a word looks like a verb in the third person. "Gives" is refused: a function returns.
func isVerb(word string) bool {
	switch word {
	case "gives", "as", "this", "its", "his", "is", "was", "has", "says", "tells", "knows":
		return false
	}
	return strings.HasSuffix(word, "s") && strings.ToLower(word) == word
}
