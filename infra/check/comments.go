package main

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
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

// oddPhrase matches phrases of comments and messages that are not plain English, or have a plainer equivalent. The
// brackets keep the pattern from matching itself.
var oddPhrase = regexp.MustCompile(`(?i)\b(of our[s]|ane[w]|in vai[n]|for goo[d]|at han[d]|whoeve[r]|` +
	`what became o[f]|is told o[f]|had b[y]|comes to nothin[g]|thereo[f]|whereo[f])\b`)

// oddPhrases returns the places of the comments and strings of a package that use such a phrase.
func oddPhrases(p *goPackage) []string {
	var out []string
	for _, f := range p.sources() {
		check := func(at token.Pos, text string) {
			if phrase := oddPhrase.FindString(text); phrase != "" {
				out = append(out, f.name+":"+strconv.Itoa(f.set.Position(at).Line)+": "+strconv.Quote(phrase))
			}
		}
		for _, group := range f.tree.Comments {
			check(group.Pos(), strings.Join(strings.Fields(group.Text()), " "))
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				check(literal.Pos(), literal.Value)
			}
			return true
		})
	}
	return out
}

// scriptDeclaration matches a line that declares a function or class. The keyword and the name are groups.
var scriptDeclaration = regexp.MustCompile(
	`^\s*(?:export )?(?:default )?((?:async )?function\*?|class) (\w+)`)

// badScriptComments applies the rules of doc comments and phrases to the JavaScript of the sandbox and the pages. It
// returns places by folder.
func badScriptComments(files []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, name := range files {
		inside := strings.HasPrefix(name, "sandbox/stdlib/") || strings.HasPrefix(name, "sandbox/otherengine/") ||
			strings.HasPrefix(name, "gateway/console/")
		if !inside || path.Ext(name) != ".js" || strings.Contains(name, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, place := range scriptPlaces(string(text)) {
			out[path.Dir(name)] = append(out[path.Dir(name)], name+":"+place)
		}
	}
	return out, nil
}

// scriptPlaces returns the lines of a script whose comments break a rule.
func scriptPlaces(text string) []string {
	var out, comment []string
	for i, line := range strings.Split(text, "\n") {
		if words, ok := strings.CutPrefix(strings.TrimSpace(line), "//"); ok {
			comment = append(comment, strings.Fields(words)...)
			continue
		}
		doc := strings.Join(comment, " ")
		comment = nil
		if phrase := oddPhrase.FindString(doc); phrase != "" {
			out = append(out, strconv.Itoa(i)+": "+strconv.Quote(phrase))
		}
		m := scriptDeclaration.FindStringSubmatch(line)
		if m == nil || doc == "" {
			continue
		}
		fits := fitsFunc
		if m[1] == "class" {
			fits = fitsType
		}
		if !fits(m[2], doc) {
			out = append(out, strconv.Itoa(i)+": "+doc)
		}
	}
	return out
}
