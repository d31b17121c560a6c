package main

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownCode = regexp.MustCompile("`[^`]*`")
	linkScheme   = regexp.MustCompile(`^[a-z]+:`)
)

// brokenLinks returns the links of documents whose file or heading does not exist. There is one finding a document.
func brokenLinks(files []string) ([]finding, error) {
	texts := map[string]string{} // of the documents
	for _, name := range files {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
	}
	var out []finding
	for _, name := range files {
		if broken := brokenLinksOf(name, texts, files); len(broken) > 0 {
			out = append(out, finding{exception{"link", name}, len(broken), broken})
		}
	}
	return out, nil
}

// brokenLinksOf returns the lines of one document that hold a broken link, with the link.
func brokenLinksOf(name string, texts map[string]string, files []string) []string {
	var out []string
	for i, line := range prose(texts[name]) {
		for _, m := range markdownLink.FindAllStringSubmatch(markdownCode.ReplaceAllString(line, ""), -1) {
			if linkScheme.MatchString(m[1]) {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			exists := slices.ContainsFunc(files, func(f string) bool { return f == target || strings.HasPrefix(f, target+"/") })
			if !exists || heading != "" && !slices.Contains(anchors(texts[target]), heading) {
				out = append(out, name+":"+strconv.Itoa(i+1)+": "+m[1])
			}
		}
	}
	return out
}

// prose returns the lines of a document. Those of code blocks are empty.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if code = code != fence; code || fence {
			lines[i] = ""
		}
	}
	return lines
}

// anchors returns the names by which links refer to the headings of a document. GitHub numbers those that recur.
func anchors(text string) []string {
	var out []string
	seen := map[string]int{}
	for _, line := range prose(text) {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		if n := seen[name]; n > 0 {
			out = append(out, name+"-"+strconv.Itoa(n))
		} else {
			out = append(out, name)
		}
		seen[name]++
	}
	return out
}
