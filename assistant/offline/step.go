package offline

import "strings"

// step is one request of the user's text, in the order it was made.
type step struct {
	kind    kind
	inner   kind       // for propose: what the rules are to do
	what    []selector // the models or rules meant
	except  []selector // and those not meant
	list    string     // "ignore", "allow" or "": the rule list meant; for list, its topic
	text    string     // the clause as typed, for answers
	name    string     // a provider (switchTo, refresh), or the mode of an import
	offers  []string   // for clarify: sentences that say it plainly
	removal bool       // hide said as "remove": a rule of that pattern may be meant
	bare    bool       // the clause names no model at all
	reason  bool       // of a list: the reasons are asked for, too
	rules   []ruleLine // for importRules
}

// ruleLine is one rule of an import.
type ruleLine struct {
	list string // "ignore" or "allow"
	what selector
}

// form says how a term stands in a model's name.
type form int

const (
	asWord   form = iota // anywhere in the name, unless it is an id or a family
	asTyped              // exactly this id or pattern
	asPrefix             // the name begins with it
	asSuffix             // the name ends with it
	asPart               // anywhere, even if it is an id or a family
)

// term is one word of a selector.
type term struct {
	text string
	form form
}

// selector names a set of models: those that fit all its terms.
type selector struct {
	terms    []term
	all      bool   // every model
	plain    bool   // and the words say so: "everything", "all models", "*"
	newest   bool   // only the newest of them
	old      bool   // all but the newest of them
	count    int    // how many of the newest; 0: all that share the newest version
	each     bool   // of each provider
	major    bool   // of each provider that is a well-known vendor
	plural   bool   // "models" followed: a family rather than one id
	pronoun  bool   // "it", "them": what the step before meant
	provider string // as typed; "": the current one
}

// text is the selector in words for answers.
func (s selector) text() string {
	var ws []string
	if s.newest {
		ws = append(ws, "newest")
	}
	if s.old {
		ws = append(ws, "old")
	}
	for _, t := range s.terms {
		ws = append(ws, t.text)
	}
	if s.all && len(s.terms) == 0 && !s.newest {
		ws = append(ws, "everything")
	}
	return strings.Join(ws, " ")
}

// changes reports whether the step can change rules.
func (s step) changes() bool {
	switch s.kind {
	case hide, allow, only, unhide, unallow, removeRule, clearRules, importRules:
		return true
	default:
	}
	return false
}

// selects reports whether the kind is about a set of models, so that a clause
// without a verb may continue it.
func (k kind) selects() bool {
	switch k {
	case hide, allow, only, unhide, unallow, find, explain, details:
		return true
	default:
	}
	return false
}
