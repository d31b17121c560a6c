package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
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
	maxDigits       = 400     // of a number; a double has at most 309 before the point
	maxExponent     = 400     // of a number, either way
)

// A Schema is a JSON Schema (draft 2020-12 unless it says otherwise) that refers to nothing outside itself. A check
// stops after a fixed number of steps, so that schemas that branch at every level cannot keep the host busy.
type Schema struct {
	mu       sync.Mutex
	compiled *jsonschema.Schema
	left     int             // steps
	steps    int             // objects whose comparisons are still the library's
	ctx      context.Context // of the check in progress
}

var errJudgement = errors.New("checking a value against it takes too many steps")

// New compiles text. It returns nil for no text.
func New(text json.RawMessage) (*Schema, error) {
	if len(text) == 0 {
		return nil, nil
	}
	s := &Schema{left: maxSteps}
	if err := s.compile(text); err != nil {
		return nil, err
	}
	return s, nil
}

// compile compiles text in the steps that are left.
func (s *Schema) compile(text json.RawMessage) error {
	if len(text) > maxSchemaBytes {
		return fmt.Errorf("has %d bytes; at most %d are accepted", len(text), maxSchemaBytes)
	}
	if path := depth.Over(text, "schema", maxSchemaDepth); path != "" {
		return errors.New(depth.Message("the schema", path, maxSchemaDepth))
	}
	if !json.Valid(text) {
		return errors.New("is not valid JSON")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return errors.New("is not valid JSON")
	}
	if err := checkNumbers(doc); err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(s.pattern)
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: "airlock:steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			s.steps++
			return &step{of: s}, nil
		},
	})
	c.AssertVocabs()
	const name = "airlock:schema"
	if err := c.AddResource(name, doc); err != nil {
		return errors.New("is not a valid JSON Schema")
	}
	err = s.bounded(func() error {
		s.charge(5 * bytes.Count(text, []byte{'{'})) // to compile a schema object costs more than to apply it
		if s.compiled, err = c.Compile(name); err != nil {
			return err
		}
		return s.takeOver()
	})
	if err != nil {
		return fmt.Errorf("is not a valid JSON Schema: %s", reasonOf(err))
	}
	return nil
}

// nothing is a loader without other documents.
type nothing struct{}

func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema must not refer to %q; it may refer only to itself", cut(url, 100))
}

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
	s.charge(len(program.Inst) / 4)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = maxSteps
	return s.check(ctx, text)
}

// check checks a value in the steps that are left.
func (s *Schema) check(ctx context.Context, text json.RawMessage) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return errors.New("is not valid JSON")
	}
	if err := checkNumbers(value); err != nil {
		return err
	}
	s.ctx = ctx
	if err := s.bounded(func() error { return s.compiled.Validate(value) }); err != nil {
		return errors.New(reasonOf(err))
	}
	return nil
}

// checkNumbers refuses numbers beyond those of every language: the library computes with fractions, so a number of nine
// bytes, 1e999999, costs it the time and the memory of a million digits.
func checkNumbers(value any) error {
	switch v := value.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		n, err := strconv.Atoi(exponent)
		if len(v) > maxDigits || exponent != "" && (err != nil || n > maxExponent || n < -maxExponent) {
			return fmt.Errorf("has a number of more than %d digits, or with an exponent beyond %d: %s", maxDigits, maxExponent,
				shortened(v.String()))
		}
	case []any:
		for _, entry := range v {
			if err := checkNumbers(entry); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, member := range v {
			if err := checkNumbers(member); err != nil {
				return err
			}
		}
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

// A Budget bounds the checks that one request may ask for where hostile schemas must not take long. The zero value
// allows none.
type Budget struct {
	Bytes int // of schemas and values
	Steps int
}

// Fits returns what is wrong with a value by a JSON Schema, as the func Fits does. It reports whether the budget was
// enough; otherwise nothing is known.
func (b *Budget) Fits(ctx context.Context, text, value json.RawMessage) (known bool, err error) {
	if len(text) == 0 {
		return true, nil
	}
	if b.Bytes -= len(text) + len(value); b.Bytes < 0 {
		return false, nil
	}
	s := &Schema{left: b.Steps}
	if err = s.compile(text); err == nil {
		err = s.check(ctx, value)
	}
	if b.Steps = s.left; s.left < 0 {
		return false, nil
	}
	return true, err
}
