package engine

// Kind is the kind of a Finding.
type Kind uint8

// The kinds of findings.
const (
	Dead      Kind = iota // matches no model
	Shadowed              // matches models, but other rules decide all of them
	Redundant             // another rule of its list covers it
	Undecided             // it could not be decided whether another rule covers it
)

// String returns "dead", "shadowed", "redundant" or "undecided".
func (k Kind) String() string {
	return [...]string{"dead", "shadowed", "redundant", "undecided"}[k]
}

// Finding reports a rule that probably does not have the intended effect.
type Finding struct {
	Kind    Kind
	List    List
	Index   int
	Pattern string
	// By is the rule in ByList that covers this rule, may cover it or, for a shadowed rule,
	// decides the first model that it matches; "" for a dead rule.
	By     string
	ByList List
}

// Lint returns the findings of all rules, list by list and rule by rule. All redundant
// rules may be removed at once without changing any status.
func (e *Engine) Lint() []Finding {
	var out []Finding
	search := &coverageSearch{engine: e}
	for _, list := range []List{Ignore, Allow} {
		for i, info := range e.Rules(list) {
			f := Finding{List: list, Index: i, Pattern: info.Pattern}
			if info.Shadowed {
				s := e.Status(e.models.list(e.lists[list].rules[i].matches, 1)[0])
				f.Kind, f.By, f.ByList = Shadowed, s.Rule, s.List
			}
			if info.Shadowed || info.Dead {
				out = append(out, f)
			}
			if by, a := e.coveredBy(search, list, i); a != no {
				f.Kind = Redundant
				if a == maybe {
					f.Kind = Undecided
				}
				f.By, f.ByList = e.lists[list].rules[by].pattern.String(), list
				out = append(out, f)
			}
		}
	}
	return out
}

// coveredBy returns the first rule of the list that covers rule i. If several rules cover
// each other, the first of them counts as not covered. If no rule covers rule i, coveredBy
// returns the first that may cover it.
func (e *Engine) coveredBy(search *coverageSearch, list List, i int) (by int, a answer) {
	rules := e.lists[list].rules
	for k, r := range rules {
		if k == i {
			continue
		}
		switch search.covers(r, rules[i]) {
		case yes:
			if k < i || search.covers(rules[i], r) == no {
				return k, yes
			}
		case maybe:
			if a == no {
				by, a = k, maybe
			}
		default:
		}
	}
	return by, a
}
