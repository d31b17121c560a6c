package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/airlock-run/airlock/policy/depth"
)

// Schemas and what they judge are hostile. These bound both.
const (
	maxSchemaBytes  = 64 << 10
	maxSchemaDepth  = 32
	maxPatternBytes = 1 << 10
	maxProgram      = 2000    // instructions of a compiled pattern
	maxSteps        = 200_000 // of one judgement
)

// A Schema is a JSON Schema (draft 2020-12 unless it says otherwise) that refers to nothing outside itself. A check
// stops after a fixed number of steps, so that schemas that branch at every level cannot keep the host busy.
type Schema struct {
	mu       sync.Mutex
	compiled *jsonschema.Schema
	left     int             // steps
	ctx      context.Context // of the check in progress
}

var errJudgement = errors.New("judging it takes too many steps")

// New compiles text. It returns nil for no text.
func New(text json.RawMessage) (*Schema, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("has %d bytes; at most %d are accepted", len(text), maxSchemaBytes)
	}
	if path := depth.Over(text, "schema", maxSchemaDepth); path != "" {
		return nil, errors.New(depth.Message("the schema", path, maxSchemaDepth))
	}
	if !json.Valid(text) {
		return nil, errors.New("is not valid JSON")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("is not valid JSON")
	}
	s := &Schema{left: maxSteps}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(s.pattern)
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: "airlock:steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return step{s}, nil
		},
	})
	c.AssertVocabs()
	const name = "airlock:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, errors.New("is not a valid JSON Schema")
	}
	err = s.bounded(func() error {
		s.compiled, err = c.Compile(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("is not a valid JSON Schema: %s", reasonOf(err))
	}
	return s, nil
}

// nothing is a loader without other documents.
type nothing struct{}

func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema must not refer to %q: only to itself", cut(url, 100))
}

// step counts each application of a schema object to a value.
type step struct{ of *Schema }

func (s step) Validate(*jsonschema.ValidatorContext, any) { s.of.charge(1) }

func (s *Schema) charge(n int) {
	if s.left -= n; s.left < 0 || s.ctx != nil && s.ctx.Err() != nil {
		panic(errJudgement)
	}
}

// pattern compiles a regular expression. Matching takes linear time and is charged.
func (s *Schema) pattern(text string) (jsonschema.Regexp, error) {
	if len(text) > maxPatternBytes {
		return nil, fmt.Errorf("a pattern has %d bytes; at most %d are accepted", len(text), maxPatternBytes)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, errors.New("a pattern is not a regular expression of the RE2 kind (no look-around, no back-references)")
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, fmt.Errorf("a pattern is too large; at most %d instructions are accepted", maxProgram)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errors.New("a pattern is not a regular expression")
	}
	return pattern{re, s, len(program.Inst)}, nil
}

type pattern struct {
	*regexp.Regexp
	of   *Schema
	size int
}

func (p pattern) MatchString(text string) bool {
	p.of.charge(1 + len(text)*p.size/2000)
	return p.Regexp.MatchString(text)
}

// Check returns what is wrong with a JSON value. It ends with ctx. It is safe for concurrent use.
func (s *Schema) Check(ctx context.Context, text json.RawMessage) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return errors.New("is not valid JSON")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.ctx = maxSteps, ctx
	if err := s.bounded(func() error { return s.compiled.Validate(value) }); err != nil {
		return errors.New(reasonOf(err))
	}
	return nil
}

// bounded turns the end of the steps into an error.
func (s *Schema) bounded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if v != any(errJudgement) {
				err = errors.New("it cannot be checked")
				return
			}
			err = errJudgement
		}
	}()
	return f()
}

// reasonOf describes what is wrong: the first few places and what they need.
func reasonOf(err error) string {
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		var meta *jsonschema.SchemaValidationError
		if errors.As(err, &meta) && errors.As(meta.Err, &failed) {
			return reasonOf(failed)
		}
		text := strings.ReplaceAll(err.Error(), "airlock:schema", "")
		return cut(strings.ReplaceAll(text, "\n", " "), 500)
	}
	printer := message.NewPrinter(language.English)
	var reasons []string
	leaves(failed, func(e *jsonschema.ValidationError) bool {
		where := "the value"
		if len(e.InstanceLocation) > 0 {
			where = strings.Join(e.InstanceLocation, ".")
		}
		reasons = append(reasons, shortened(where+": "+e.ErrorKind.LocalizedString(printer)))
		return len(reasons) < 3
	})
	return strings.Join(reasons, "; ")
}

// cut returns the first n bytes of a text, without half a character.
func cut(text string, n int) string { return strings.ToValidUTF8(text[:min(n, len(text))], "") }

// shortened cuts the middle out of a text that quotes a long value.
func shortened(text string) string {
	if len(text) <= 240 {
		return text
	}
	return strings.ToValidUTF8(text[:100], "") + "…" + strings.ToValidUTF8(text[len(text)-120:], "")
}

func leaves(e *jsonschema.ValidationError, visit func(*jsonschema.ValidationError) bool) bool {
	if len(e.Causes) == 0 {
		return visit(e)
	}
	for _, c := range e.Causes {
		if !leaves(c, visit) {
			return false
		}
	}
	return true
}

// Fits returns what is wrong with a value by a JSON Schema. No schema accepts everything.
func Fits(ctx context.Context, text, value json.RawMessage) error {
	s, err := New(text)
	if err != nil || s == nil {
		return err
	}
	return s.Check(ctx, value)
}
