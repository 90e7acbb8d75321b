package modelfilter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"winnow/assistant"
)

// stateVersion is the version of the state's format.
const stateVersion = 1

// state is what a checkpoint restores: the staged rules of all providers with staged rules, the
// current provider and the search text.
type state struct {
	Version  int                   `json:"version"`
	Provider string                `json:"provider"`
	Search   string                `json:"search"`
	Rules    map[string]stateRules `json:"rules"`
}

type stateRules struct {
	Ignore []string `json:"ignore,omitempty"`
	Allow  []string `json:"whitelist,omitempty"`
}

// set returns the rules of both lists; neither is nil.
func (r stateRules) set() ruleSet {
	return ruleSet{Ignore: append([]string{}, r.Ignore...), Allow: append([]string{}, r.Allow...)}
}

// decodeStrict decodes JSON and rejects fields that v does not have.
func decodeStrict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is extra data after the JSON value")
	}
	return nil
}

// State returns the staged rules of all providers, the current provider and the search
// text. Equal states have equal encodings.
func (w *Window) State() (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return assistant.PlainJSON(w.state())
}

func (w *Window) state() state {
	s := state{Version: stateVersion, Provider: w.current, Search: w.search, Rules: map[string]stateRules{}}
	for name, p := range w.providers {
		if r := p.staged(); len(r[Ignore])+len(r[Allow]) > 0 {
			s.Rules[name] = stateRules{r[Ignore], r[Allow]}
		}
	}
	return s
}

// Apply restores a state completely or not at all. It records the differences as changes by the
// user. The file is not changed.
func (w *Window) Apply(raw json.RawMessage) error {
	s, err := readState(raw)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apply(s)
	return nil
}

func readState(raw json.RawMessage) (state, error) {
	var s state
	if err := decodeStrict(raw, &s); err != nil {
		return s, fmt.Errorf("the state of the rules cannot be read: %w", err)
	}
	if s.Version != stateVersion {
		return s, fmt.Errorf("the state of the rules has version %d; this program reads version %d", s.Version, stateVersion)
	}
	if s.Provider == "" {
		return s, fmt.Errorf("the state of the rules names no provider")
	}
	for name, r := range s.Rules {
		if name == "" || name != strings.ToLower(name) {
			return s, fmt.Errorf("the state of the rules has an invalid provider name %s", quote(name))
		}
		if slices.Contains(r.Ignore, "") || slices.Contains(r.Allow, "") {
			return s, fmt.Errorf("the state of the rules has an empty pattern for %s", quote(name))
		}
	}
	return s, nil
}

func (w *Window) apply(s state) {
	for name := range s.Rules {
		w.providerNamed(name)
	}
	for _, p := range w.providers {
		before, after := p.staged(), s.Rules[p.name].set()
		for list := range p.lists {
			l := &p.lists[list]
			l.rules = after[list]
			w.sign(l, append(without(before[list], l.rules), without(l.rules, before[list])...)...)
		}
		if !slices.Equal(before[Ignore], after[Ignore]) || !slices.Equal(before[Allow], after[Allow]) {
			p.updateEngine()
			w.touch(p)
			w.recordRules(ruleChanges(p.name, before, after)...)
		}
	}
	if from := w.current; w.setCurrent(w.providerNamed(s.Provider)) {
		w.record("provider_changed", map[string]any{"from": from, "to": s.Provider})
	}
	if w.search != s.Search {
		w.search = s.Search
		w.record(searchChanged, map[string]any{"query": visible(s.Search)})
	}
	w.reorder(w.order)
	w.changed()
}

// Recover restores the unsaved rules of an earlier run. saved is the state of the file in
// that run: the changes from saved to unsaved are applied to the rules in the file. The
// provider and the search text are those of unsaved.
func (w *Window) Recover(unsaved, saved json.RawMessage) error {
	ours, base, err := readStates(unsaved, saved)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.applyUnsaved(ours, base)
	return nil
}

// Adopt loads the rules of another program, including unsaved ones, into the window, even while the
// assistant works. It reads the file. saved is the state of the file as known to the other program,
// or nil if unknown. The current provider and the search text are not changed.
func (w *Window) Adopt(ctx context.Context, theirs, saved json.RawMessage) error {
	known := saved != nil
	if !known {
		saved = theirs
	}
	ours, base, err := readStates(theirs, saved)
	if err != nil {
		return err
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	r, err := w.read(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adopt(r, retainStaged)
	ours.Provider, ours.Search = w.current, w.search
	if known {
		w.applyUnsaved(ours, base)
	} else {
		w.apply(ours)
	}
	return nil
}

func readStates(unsaved, saved json.RawMessage) (ours, base state, err error) {
	if ours, err = readState(unsaved); err == nil {
		base, err = readState(saved)
	}
	return ours, base, err
}

// applyUnsaved applies the changes from base to ours to the rules in the file, and the result
// to the window.
func (w *Window) applyUnsaved(ours, base state) {
	for name := range ours.Rules {
		w.providerNamed(name)
	}
	merged := map[string]stateRules{}
	for name, p := range w.providers {
		before, after, theirs := base.Rules[name], ours.Rules[name], p.saved()
		merged[name] = stateRules{mergeRules(before.Ignore, after.Ignore, theirs[Ignore]), mergeRules(before.Allow, after.Allow, theirs[Allow])}
	}
	ours.Rules = merged
	w.apply(ours)
}

// Rebase implements [assistant.Rebaser]. It adds to a state the rules that the change from before
// to after added, and removes the rules that this change removed.
func (w *Window) Rebase(raw, before, after json.RawMessage) (json.RawMessage, error) {
	s, err := readState(raw)
	if err != nil {
		return nil, err
	}
	was, is, err := readStates(before, after)
	if err != nil {
		return nil, err
	}
	rules := map[string]stateRules{}
	for _, names := range []map[string]stateRules{s.Rules, is.Rules} {
		for name := range names {
			from, to, r := was.Rules[name], is.Rules[name], s.Rules[name]
			r = stateRules{mergeRules(from.Ignore, to.Ignore, r.Ignore), mergeRules(from.Allow, to.Allow, r.Allow)}
			if len(r.Ignore)+len(r.Allow) > 0 {
				rules[name] = r
			}
		}
	}
	s.Rules = rules
	return assistant.PlainJSON(s)
}

// Attribute records who made the staged changes between two states. After Recover, call it for all
// steps, oldest first. States that cannot be read are skipped.
func (w *Window) Attribute(before, after json.RawMessage, author assistant.Author) {
	was, err := readState(before)
	is, err2 := readState(after)
	if err != nil || err2 != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, p := range w.providers {
		for _, c := range ruleChanges(name, was.Rules[name].set(), is.Rules[name].set()) {
			p.lists[c.List].signAs(author, c.Pattern)
		}
	}
	w.changed()
}
