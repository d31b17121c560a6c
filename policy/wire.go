package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// textHead is a Text on its way to another process: all but the sources, which follow it as they are.
type textHead struct {
	Language string   `json:"language"`
	Code     int      `json:"code"` // bytes
	Files    []named  `json:"files,omitempty"`
	Names    []string `json:"names,omitempty"`
	Globals  []string `json:"globals,omitempty"`
	Powers   Powers   `json:"powers"`
	Patterns []string `json:"patterns,omitempty"`
	Syntax   bool     `json:"syntax,omitempty"`
	Shallow  bool     `json:"shallow,omitempty"`
}

// named is the path and the bytes of one file.
type named struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// MarshalBinary writes the text for a reader in another process: a head in JSON, a line feed, and the sources byte by byte.
func (t Text) MarshalBinary() ([]byte, error) {
	head := textHead{
		Language: t.Language, Code: len(t.Code), Names: t.Names, Globals: t.Globals, Powers: t.Powers, Patterns: t.Patterns,
		Syntax: t.Syntax, Shallow: t.Shallow,
	}
	files := sortedNames(t.Files)
	for _, name := range files {
		head.Files = append(head.Files, named{name, len(t.Files[name])})
	}
	out, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	out = append(slices.Grow(out, 1+t.Bytes()), '\n')
	out = append(out, t.Code...)
	for _, name := range files {
		out = append(out, t.Files[name]...)
	}
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (t *Text) UnmarshalBinary(b []byte) error {
	end := slices.Index(b, '\n')
	if end < 0 {
		return errors.New("policy: a text without an end of its head")
	}
	var head textHead
	if err := json.Unmarshal(b[:end], &head); err != nil {
		return fmt.Errorf("policy: the head of a text: %w", err)
	}
	rest := string(b[end+1:])
	cut := func(n int) (string, error) {
		if n < 0 || n > len(rest) {
			return "", fmt.Errorf("policy: a source of %d bytes in %d", n, len(rest))
		}
		source := rest[:n]
		rest = rest[n:]
		return source, nil
	}
	out := Text{
		Language: head.Language, Names: head.Names, Globals: head.Globals, Powers: head.Powers, Patterns: head.Patterns,
		Syntax: head.Syntax, Shallow: head.Shallow,
	}
	var err error
	if out.Code, err = cut(head.Code); err != nil {
		return err
	}
	if len(head.Files) > 0 {
		out.Files = make(map[string]string, len(head.Files))
	}
	for _, f := range head.Files {
		if out.Files[f.Name], err = cut(f.Bytes); err != nil {
			return err
		}
	}
	if rest != "" {
		return fmt.Errorf("policy: %d bytes behind the sources of a text", len(rest))
	}
	*t = out
	return nil
}
