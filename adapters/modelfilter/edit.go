package modelfilter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/nearest"
)

// maxPattern is the maximum length of a new pattern in characters: far longer than any id,
// but short enough to read before confirming it.
const maxPattern = 500

// Added is the result of Add.
type Added struct {
	engine.Verdict
	Models  []string // ids whose status the rule decides
	Matches int      // number of models that the rule matches
}

// Add stages a rule at the end of a list. It returns ErrLocked, a *FixedError, an *engine.Refusal with the reason why
// the pattern is rejected, or another error if the pattern is too long.
func (s Scope) Add(list List, pattern string) (added Added, err error) {
	err = s.w.asUser(func() error {
		p := s.provider()
		if added, err = s.w.add(p, list, pattern); err == nil {
			s.w.recordRules(RuleChange{Provider: p.name, List: list, Pattern: added.Pattern, Added: true})
		}
		return err
	})
	return added, err
}

func (w *Window) add(p *provider, list List, pattern string) (Added, error) {
	if err := p.editable(list); err != nil {
		return Added{}, err
	}
	v, err := check(w.engine(p), list, pattern)
	if err != nil {
		return Added{}, err
	}
	w.stageAdd(p, list, v.Pattern)
	e := w.engine(p)
	at := len(p.lists[list].rules) - 1
	return Added{v, e.Decided(list, at, 0), e.Rules(list)[at].Matches}, nil
}

// check reports which rules a new pattern would make redundant. It returns an error if the pattern may not be added.
func check(e *engine.Engine, list List, pattern string) (engine.Verdict, error) {
	if n := utf8.RuneCountInString(pattern); n > maxPattern {
		return engine.Verdict{}, fmt.Errorf("the pattern has %d characters; at most %d are allowed", n, maxPattern)
	}
	return e.Check(list, pattern)
}

// Remove stages the removal of a rule and its duplicates. It returns ErrLocked, a
// *FixedError, or an *UnknownError.
func (s Scope) Remove(list List, pattern string) error { return s.removeAll([]Rule{{list, pattern}}) }

// removeAll stages the removal of all the rules, or of none if one of them cannot be removed.
func (s Scope) removeAll(rules []Rule) error {
	return s.w.asUser(func() error {
		p := s.provider()
		removed, err := s.w.remove(p, rules...)
		for _, r := range removed {
			s.w.recordRules(RuleChange{Provider: p.name, List: r.List, Pattern: r.Pattern})
		}
		return err
	})
}

// remove stages the removal of rules, and returns them with trimmed patterns and without
// duplicates. If one of them does not exist or its list cannot be edited, nothing is removed.
func (w *Window) remove(p *provider, rules ...Rule) (removed []Rule, err error) {
	for _, r := range rules {
		r.Pattern = strings.TrimSpace(r.Pattern)
		if err := p.editable(r.List); err != nil {
			return nil, err
		}
		if listed := p.lists[r.List].rules; !slices.Contains(listed, r.Pattern) {
			return nil, &UnknownError{What: r.List.String() + " rule", Name: r.Pattern, Near: nearest.Names(r.Pattern, listed, maxNear)}
		}
		if !slices.Contains(removed, r) {
			removed = append(removed, r)
		}
	}
	for _, r := range removed {
		w.stageRemove(p, r.List, r.Pattern)
	}
	return removed, nil
}

// clear stages an empty list and returns how many rules were removed.
func (w *Window) clear(p *provider, list List) (int, error) {
	if err := p.editable(list); err != nil {
		return 0, err
	}
	n := len(p.lists[list].rules)
	if n > 0 {
		w.stage(p, list, nil)
	}
	return n, nil
}

// Import is a set of rules to import.
type Import struct {
	Lists [2][]string // by List; a nil list is not changed
	// Replace replaces the rules of each list that is not nil, unless all rules imported into it are rejected. Rules
	// that other imported rules cover are then accepted, so that the list becomes the imported one.
	Replace bool
}

// Imported is the result for one rule of an import.
type Imported struct {
	List     List
	Pattern  string // trimmed
	Err      error  // why it was rejected; nil if it was added or kept
	Kept     bool   // it was already in the list that was replaced
	Affected int    // number of models whose status the rule decides
}

// maxImport is the maximum number of rules in an import: each is compared with all rules of
// its list.
const maxImport = 1000

// Import stages many rules at once, independently: a rejected rule does not stop the others. It returns an error, and
// stages nothing, if the window is locked (ErrLocked), a list cannot be edited (*FixedError), or there are too many
// rules.
func (s Scope) Import(in Import) (out []Imported, err error) {
	err = s.w.asUser(func() error {
		p := s.provider()
		before := p.staged()
		if out, err = s.w.importRules(p, in); err != nil {
			return err
		}
		s.w.recordRules(ruleChanges(p.name, before, p.staged())...)
		return nil
	})
	return out, err
}

func (w *Window) importRules(p *provider, in Import) ([]Imported, error) {
	n := 0
	for _, list := range lists {
		if in.Lists[list] == nil {
			continue
		}
		n += len(in.Lists[list])
		if err := p.editable(list); err != nil {
			return nil, err
		}
	}
	if n > maxImport {
		return nil, fmt.Errorf("the import has %d rules; at most %d are allowed: use broader patterns, or import the rules in parts", n, maxImport)
	}
	var out []Imported
	for _, list := range lists {
		if in.Lists[list] != nil {
			out = append(out, w.importList(p, list, in)...)
		}
	}
	decides := map[List]map[string]int{Ignore: {}, Allow: {}}
	for _, list := range lists {
		for _, r := range w.engine(p).Rules(list) {
			decides[list][r.Pattern] += r.Decides
		}
	}
	for i := range out {
		if out[i].Err == nil {
			out[i].Affected = decides[out[i].List][out[i].Pattern]
		}
	}
	return out, nil
}

func (w *Window) importList(p *provider, list List, in Import) []Imported {
	before, patterns := slices.Clone(p.lists[list].rules), in.Lists[list]
	if in.Replace {
		w.stage(p, list, nil)
	}
	out := make([]Imported, len(patterns))
	for i, pattern := range patterns {
		out[i] = Imported{List: list, Pattern: strings.TrimSpace(pattern)}
		v, err := check(w.engine(p), list, pattern)
		if refusal, ok := errors.AsType[*engine.Refusal](err); ok && in.Replace && refusal.Reason == engine.Covered {
			v.Pattern, err = refusal.Pattern, nil
		}
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i].Kept = slices.Contains(before, v.Pattern)
		w.stageAdd(p, list, v.Pattern)
	}
	if in.Replace && len(patterns) > 0 && len(p.lists[list].rules) == 0 {
		w.stage(p, list, before) // all imported rules were rejected, so the list is not replaced
	}
	return out
}
