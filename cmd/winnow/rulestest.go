package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/glob"
	"winnow/tui/plain"
)

func rulesTestCommand(a *app) *cobra.Command {
	test := a.withFilter(a.rulesTest)
	c := command("test [MODEL…]", "Show the status of models and the rule behind it", 0, -1, func(ctx context.Context, args []string) error {
		if a.flags.json && len(args) == 0 && piped(a.stdin) {
			return a.batch(testCase)
		}
		return test(ctx, args)
	})
	c.Long = "Without arguments, test lists all known models. With --json and standard input, each line is a\n" +
		"separate case and no file is read:\n" +
		`{"provider":"openai","models":["openai/gpt-4o"],"ignore":["gpt-4*"],"whitelist":[]}`
	return c
}

// testedModel is the status of a model. ListedBy is the same as in modelJSON.
type testedModel struct {
	engine.ModelStatus
	ListedBy string `json:"listed_by,omitempty"`
}

func (a *app) rulesTest(_ context.Context, w *journaledWindow, ids []string) error {
	statuses := []testedModel{}
	listed := map[string]bool{}
	for _, id := range ids {
		s, full, err := a.scopeOf(w.filter, id)
		if err != nil {
			return err
		}
		tested := testedModel{ModelStatus: s.Explain(full).ModelStatus}
		for _, m := range s.Models() {
			if listed[m.ID] = true; m.ID == tested.ID {
				tested.ListedBy = m.Source
			}
		}
		statuses = append(statuses, tested)
	}
	if len(ids) == 0 {
		scopes, err := a.scopes(w.filter, true)
		if err != nil {
			return err
		}
		for _, s := range scopes {
			for _, m := range s.Models() {
				statuses = append(statuses, testedModel{m.ModelStatus, m.Source})
			}
		}
	}
	rows := make([][]string, len(statuses))
	for i, m := range statuses {
		rule := visible(m.Rule)
		if m.Unfiltered {
			rule = "the proxy does not filter it"
		} else if len(ids) > 0 && !listed[m.ID] {
			rule = strings.TrimSpace(rule + " (not a known model)")
		}
		rows[i] = []string{visible(m.ID), m.Status.Word(), rule, m.ListedBy}
	}
	return a.emit(map[string]any{"models": statuses}, plain.Table("", []string{"model", "status", "rule", "listed by"}, rows)...)
}

// scopeOf returns the provider of a model and the model's full id. The provider is the first of: --provider, the
// provider named in id, the provider that lists the model, the current provider.
func (a *app) scopeOf(w *modelfilter.Window, id string) (modelfilter.Scope, string, error) {
	if name, _, ok := strings.Cut(id, "/"); ok && a.flags.provider == "" {
		if s, err := w.On(name); err == nil {
			return s, id, nil
		}
	}
	if s, full, ok := w.FindModel(id); ok && a.flags.provider == "" {
		return s, full, nil
	}
	s, err := w.On(a.flags.provider) // "" means the current provider
	if err == nil && !strings.HasPrefix(id, s.Provider()+"/") {
		id = s.Provider() + "/" + id
	}
	return s, id, err
}

// maxCase is the maximum length of an input line in bytes, enough for 100,000 models and as many rules.
const maxCase = 64 << 20

// batch answers each line of standard input, as soon as the line arrives, with one line of JSON.
func (a *app) batch(answer func(line []byte) (any, error)) error {
	in := bufio.NewScanner(plain.Input(a.ctx, a.stdin))
	in.Buffer(make([]byte, 0, bufio.MaxScanTokenSize), maxCase)
	bad, n := 0, 0
	for in.Scan() && a.ctx.Err() == nil {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		n++
		v, err := answer(line)
		if err != nil {
			bad++
			v = map[string]string{"error": err.Error()}
		}
		if err := a.printJSON(v); err != nil {
			return err
		}
	}
	switch err := in.Err(); {
	case err != nil:
		return fmt.Errorf("standard input: line %d: %w", n+1, err)
	case bad > 0:
		return fmt.Errorf("%d of %s could not be read; the results contain the errors", bad, assistant.Counted(n, "line"))
	}
	return a.ctx.Err()
}

// caseRule is a rule in the answer to a test case: either applied, or rejected with a reason.
type caseRule struct {
	Type     string `json:"type"`
	Pattern  string `json:"pattern"`
	Affected *int   `json:"affected_count,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// testCase answers one line of rules test --json. A rule that another rule covers is applied too.
func testCase(line []byte) (any, error) {
	var c struct {
		Provider                  *string
		Models, Ignore, Whitelist []string
	}
	if err := strictJSON(line, &c); err != nil {
		return nil, err
	}
	if c.Provider == nil || *c.Provider == "" {
		return nil, errors.New(`"provider" is missing`)
	}
	refused := []caseRule{}
	e := engine.New(*c.Provider, c.Models)
	ignore := writable(engine.Ignore, c.Ignore, &refused)
	e.Set(ignore, writable(engine.Allow, c.Whitelist, &refused))
	rules := []caseRule{}
	for _, l := range ruleLists {
		for _, r := range e.Rules(l) {
			rules = append(rules, caseRule{Type: listName(l), Pattern: r.Pattern, Affected: &r.Decides})
		}
	}
	return struct {
		Models    []engine.ModelStatus `json:"models"`
		Rules     []caseRule           `json:"rules"`
		Available int                  `json:"available"`
		Total     int                  `json:"total"`
		Refused   []caseRule           `json:"refused"`
	}{nonNil(e.Statuses()), rules, e.Shown(), e.Total(), refused}, nil
}

// writable returns the patterns that can be rules and adds the others to refused: empty patterns, duplicates, and
// patterns that the file cannot contain.
func writable(list engine.List, patterns []string, refused *[]caseRule) []string {
	empty := engine.New("", nil) // without rules, so that no pattern is reported as covered
	seen := map[string]bool{}
	var out []string
	for _, p := range patterns {
		v, err := empty.Check(list, p)
		if err == nil && seen[v.Pattern] {
			err = &engine.Refusal{Reason: engine.Duplicate, List: list, Pattern: v.Pattern}
		}
		if err != nil {
			*refused = append(*refused, caseRule{Type: listName(list), Pattern: p, Reason: err.Error()})
			continue
		}
		seen[v.Pattern] = true
		out = append(out, v.Pattern)
	}
	return out
}

func rulesCoversCommand(a *app) *cobra.Command {
	c := command("covers NEW EXISTING", "Check whether an existing pattern matches everything that a new one matches", 0, 2, func(_ context.Context, args []string) error {
		switch {
		case len(args) == 0 && a.flags.json && piped(a.stdin):
			return a.batch(coverCase)
		case len(args) < 2:
			return &usageError{"winnow rules covers", "give two patterns, or use --json with test cases on standard input"}
		}
		return a.printCoverage(coverage(args[0], args[1]))
	})
	c.Long = "With --json and standard input, each line is a separate case:\n" + `{"new":"gpt-4o*","existing":"gpt-4*"}`
	return c
}

// coverageJSON reports whether one pattern covers another.
type coverageJSON struct {
	Covered        bool    `json:"covered"`
	Counterexample *string `json:"counterexample,omitempty"` // a name that only the new pattern matches
	Undecided      bool    `json:"undecided,omitempty"`      // too complex to decide: treated as not covered
}

func coverage(newer, existing string) coverageJSON {
	c := glob.Covers(glob.Compile(existing), glob.Compile(newer))
	out := coverageJSON{Covered: c.Covered, Undecided: c.Undecided}
	if !c.Covered && !c.Undecided {
		out.Counterexample = &c.Counterexample
	}
	return out
}

func coverCase(line []byte) (any, error) {
	var c struct{ New, Existing *string }
	if err := strictJSON(line, &c); err != nil {
		return nil, err
	}
	if c.New == nil || c.Existing == nil {
		return nil, errors.New(`"new" and "existing" are required`)
	}
	return coverage(*c.New, *c.Existing), nil
}

func (a *app) printCoverage(c coverageJSON) error {
	text := "not covered"
	switch {
	case c.Covered:
		text = "covered"
	case c.Undecided:
		text = "undecided: the patterns are too complex; treated as not covered"
	case c.Counterexample != nil:
		text = fmt.Sprintf("not covered: only the new pattern matches %q", visible(*c.Counterexample))
	}
	return a.emit(c, text)
}

// strictJSON decodes exactly one value and rejects unknown fields.
func strictJSON(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the line cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the line contains more than one value")
	}
	return nil
}
