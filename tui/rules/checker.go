package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/glob"
)

// liveCompared is how many rules a pattern is compared with exactly at each
// key, in each direction: a comparison takes up to some thirty microseconds,
// and a key has two milliseconds.
const liveCompared = 24

// checker holds patterns against the rules before they are added. The numbers
// of models and one example of each pattern leave few rules to be compared
// exactly; those are compared as the window would.
type checker struct {
	revision int64
	provider string
	rules    [2][]judged // by list; nil until asked for
}

// judged is a rule with an id that it matches.
type judged struct {
	pattern *glob.Pattern
	example string // "" when it matches nothing at all
}

func judge(provider, pattern string) judged {
	j := judged{pattern: glob.Compile(pattern)}
	if s, ok := j.pattern.Example(); ok {
		if id := provider + "/" + s; j.pattern.MatchID(id) {
			j.example = id
		}
	}
	return j
}

// of are the rules of a list as the snapshot has them.
func (c *checker) of(d *snapshot, list modelfilter.List) []judged {
	if c.revision != d.revision || c.provider != d.provider {
		*c = checker{revision: d.revision, provider: d.provider}
	}
	if c.rules[list] == nil {
		c.rules[list] = make([]judged, len(d.rules[list]))
		for i, r := range d.rules[list] {
			c.rules[list][i] = judge(d.provider, r.Pattern)
		}
	}
	return c.rules[list]
}

// check says whether a pattern that matches so many models can be added to a
// list. Of the rules that may cover it, and of those that it may cover, at most
// so many are compared; unsure says that there were more.
func (c *checker) check(d *snapshot, list modelfilter.List, text string, matches, most int) (v engine.Verdict, unsure bool, err error) {
	text = strings.TrimSpace(text)
	fresh, rules := judge(d.provider, text), c.of(d, list)
	var compared []string
	broad, narrow := 0, 0
	for i, r := range d.rules[list] {
		switch {
		case r.Pattern == text:
		case r.Matches >= matches && covers(rules[i].pattern, fresh):
			broad++
			if broad > most {
				unsure = true
				continue
			}
		case r.Matches <= matches && covers(fresh.pattern, rules[i]) && (r.Matches == 0 || fresh.pattern.MatchID(r.Models(1)[0])):
			narrow++
			if narrow > most {
				unsure = true
				continue
			}
		default:
			continue
		}
		compared = append(compared, r.Pattern)
	}
	e := engine.New(d.provider, nil)
	var sets [2][]string
	sets[list] = compared
	e.Set(sets[modelfilter.Ignore], sets[modelfilter.Allow])
	v, err = e.Check(list, text)
	return v, unsure, err
}

// covers says whether the example does not refute that broad covers narrow.
func covers(broad *glob.Pattern, narrow judged) bool {
	return narrow.example == "" || broad.MatchID(narrow.example)
}
