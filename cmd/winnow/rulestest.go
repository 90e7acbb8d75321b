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
)

func rulesTestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "test [MODEL…]",
		Short: "Tell the status of models and the rule that decides it",
		Long: "Without models: all that are known. With --json and standard input, each line is a\n" +
			"case of its own and no file is read:\n" +
			`{"provider":"openai","models":["openai/gpt-4o"],"ignore":["gpt-4*"],"whitelist":[]}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.flags.json && len(args) == 0 && piped(a.stdin) {
				return a.batch(testCase)
			}
			return a.rulesTest(cmd.Context(), args)
		},
	}
}

// statusJSON is the status of a model.
type statusJSON struct {
	ID         string `json:"id"`
	Status     string `json:"status"` // "normal", "ignored" or "whitelisted"
	Rule       string `json:"rule"`   // pattern of the rule that decides; "" is none
	Unfiltered bool   `json:"unfiltered,omitempty"`
}

func (a *app) rulesTest(ctx context.Context, ids []string) error {
	w, err := a.openFilter(ctx, false)
	if err != nil {
		return err
	}
	names, scopes, err := a.scopes(w.filter, hasKey)
	if err != nil {
		return err
	}
	statuses := []statusJSON{}
	if len(ids) > 0 {
		for _, id := range ids {
			s, full, err := a.scopeOf(w.filter, id)
			if err != nil {
				return err
			}
			m := s.Explain(full).ModelStatus
			statuses = append(statuses, statusJSON{m.ID, m.Status.String(), m.Rule, m.Unfiltered})
		}
	} else {
		for i := range names {
			for _, m := range scopes[i].Models() {
				statuses = append(statuses, statusJSON{m.ID, m.Status.String(), m.Rule, m.Unfiltered})
			}
		}
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"models": statuses})
	}
	rows := make([][]string, len(statuses))
	for i, m := range statuses {
		rule := shown(m.Rule)
		if m.Unfiltered {
			rule = "the proxy does not filter it"
		}
		rows[i] = []string{shown(m.ID), m.Status, rule}
	}
	return a.table([]column{{title: "model"}, {title: "status"}, {title: "rule"}}, rows)
}

// scopeOf is the provider of a model and the model's whole id: the provider of
// --provider, of the id, or the current one.
func (a *app) scopeOf(w *modelfilter.Window, id string) (modelfilter.Scope, string, error) {
	provider := a.flags.provider
	if name, _, ok := strings.Cut(id, "/"); ok && provider == "" {
		if s, err := w.On(name); err == nil {
			return s, id, nil
		}
	}
	if provider == "" {
		provider = w.Provider()
	}
	s, err := w.On(provider)
	if !strings.HasPrefix(id, provider+"/") {
		id = provider + "/" + id
	}
	return s, id, err
}

// maxCase is the longest line of a batch: 100,000 models and as many rules fit.
const maxCase = 64 << 20

// batch answers each line of standard input with one line, as soon as it has come.
func (a *app) batch(answer func(line []byte) (any, error)) error {
	lines := bufio.NewScanner(a.stdin)
	lines.Buffer(make([]byte, 0, bufio.MaxScanTokenSize), maxCase)
	bad, n := 0, 0
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
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
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("standard input: line %d: %w", n+1, err)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %s could not be read; each answer says why", bad, assistant.Counted(n, "line"))
	}
	return nil
}

// caseJSON is a line of rules test --json.
type caseJSON struct {
	Provider  *string  `json:"provider"`
	Models    []string `json:"models"`
	Ignore    []string `json:"ignore"`
	Whitelist []string `json:"whitelist"`
}

// caseRule and caseRefused are its rules in the answer.
type caseRule struct {
	Type     string `json:"type"`
	Pattern  string `json:"pattern"`
	Affected int    `json:"affected_count"`
}

type caseRefused struct {
	Type    string `json:"type"`
	Pattern string `json:"pattern"`
	Reason  string `json:"reason"`
}

// testCase carries out one case. Rules that others cover are kept.
func testCase(line []byte) (any, error) {
	var c caseJSON
	if err := strictJSON(line, &c); err != nil {
		return nil, err
	}
	if c.Provider == nil || *c.Provider == "" {
		return nil, errors.New(`"provider" is missing`)
	}
	e := engine.New(*c.Provider, c.Models)
	refused := []caseRefused{}
	kept := [2][]string{}
	kept[engine.Ignore], refused = writable(engine.Ignore, c.Ignore, refused)
	kept[engine.Allow], refused = writable(engine.Allow, c.Whitelist, refused)
	e.Set(kept[engine.Ignore], kept[engine.Allow])
	models := []statusJSON{}
	for _, m := range e.Statuses() {
		models = append(models, statusJSON{ID: m.ID, Status: m.Status.String(), Rule: m.Rule, Unfiltered: m.Unfiltered})
	}
	rules := []caseRule{}
	for _, list := range lists {
		for _, r := range e.Rules(list) {
			rules = append(rules, caseRule{listName(list), r.Pattern, r.Decides})
		}
	}
	return struct {
		Models    []statusJSON  `json:"models"`
		Rules     []caseRule    `json:"rules"`
		Available int           `json:"available"`
		Total     int           `json:"total"`
		Refused   []caseRefused `json:"refused"`
	}{models, rules, e.Available(), e.Total(), refused}, nil
}

// writable leaves out the patterns that no rule can have: empty ones, those
// that came before, and those that the file cannot hold.
func writable(list engine.List, patterns []string, refused []caseRefused) ([]string, []caseRefused) {
	none := engine.New("", nil) // knows no rule, so that none covers another
	taken := map[string]bool{}
	var kept []string
	for _, p := range patterns {
		v, err := none.Check(list, p)
		if err == nil && taken[v.Pattern] {
			err = &engine.Refusal{Reason: engine.Duplicate, List: list, Pattern: v.Pattern}
		}
		if err != nil {
			refused = append(refused, caseRefused{listName(list), p, err.Error()})
			continue
		}
		taken[v.Pattern] = true
		kept = append(kept, v.Pattern)
	}
	return kept, refused
}

func rulesCoversCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "covers NEW [EXISTING]",
		Short: "Tell whether a pattern matches all that another one matches",
		Long: "Without EXISTING the rules of the provider are asked. With --json and standard input\n" +
			"each line is a case of its own: " + `{"new":"gpt-4o*","existing":"gpt-4*"}`,
		Args: args(0, 2),
	}
	list := listFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && a.flags.json && piped(a.stdin):
			return a.batch(coverCase)
		case len(args) == 0:
			return &usageError{cmd.CommandPath(), "give a pattern, or with --json cases on standard input"}
		case len(args) == 1:
			return a.coveredByRules(cmd.Context(), list(), args[0])
		}
		return a.printCoverage(coverage(args[0], args[1]))
	}
	return c
}

// coverageJSON is whether a pattern covers another one.
type coverageJSON struct {
	Covered        bool    `json:"covered"`
	Counterexample *string `json:"counterexample,omitempty"` // what only the new one matches
	Undecided      bool    `json:"undecided,omitempty"`      // given up: treated as not covered
	By             string  `json:"by,omitempty"`             // the rule that covers it
}

func coverage(narrow, broad string) coverageJSON {
	c := glob.Covers(glob.Compile(broad), glob.Compile(narrow))
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
		return nil, errors.New(`"new" and "existing" are needed`)
	}
	return coverage(*c.New, *c.Existing), nil
}

// coveredByRules asks the rules there are, staged ones included.
func (a *app) coveredByRules(ctx context.Context, list modelfilter.List, pattern string) error {
	w, err := a.openFilter(ctx, false)
	if err != nil {
		return err
	}
	s, err := w.filter.On(a.flags.provider)
	if err != nil {
		return err
	}
	var refusal *engine.Refusal
	_, err = s.Add(list, pattern) // in memory only: nothing of it is kept
	switch {
	case errors.As(err, &refusal) && (refusal.Reason == engine.Covered || refusal.Reason == engine.Duplicate):
		return a.printCoverage(coverageJSON{Covered: true, By: strings.Join(refusal.By, ", ")})
	case err != nil:
		return err
	}
	return a.printCoverage(coverageJSON{})
}

func (a *app) printCoverage(c coverageJSON) error {
	switch {
	case a.flags.json:
		return a.printJSON(c)
	case c.Covered && c.By != "":
		return a.print("covered by %s", shown(c.By))
	case c.Covered:
		return a.print("covered")
	case c.Undecided:
		return a.print("not decided: the patterns are too complicated; treated as not covered")
	case c.Counterexample != nil:
		return a.print("not covered: only the new one matches %q", shown(*c.Counterexample))
	}
	return a.print("not covered")
}

// strictJSON reads one object without unknown fields.
func strictJSON(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the line cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the line holds more than one value")
	}
	return nil
}
