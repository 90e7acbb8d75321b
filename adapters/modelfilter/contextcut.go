package modelfilter

import (
	"unicode/utf8"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/budget"
)

// cutNote tells the model what to do about a cut context.
const cutNote = "The lists are cut to fit; every count is exact. Use get_models_matching_pattern, get_model_details and explain_model_status for the rest."

// The parts of a cut context, in percent of what is left after the parts
// before: rules first, then what they affect, what the user has picked out, and models.
const (
	percentRules       = 50
	percentAffected    = 30
	percentHighlighted = 20
)

// filling fills the lists of a context.
type filling struct {
	p           *provider
	e           *engine.Engine
	highlighted []string
	room        int // characters that are left
}

// fill returns c with its lists, all of them if they fit into the tokens.
func (f *filling) fill(c Context, tokens int) Context {
	limit := int(float64(tokens) * budget.Params{}.CPT())
	f.room = limit - size(c)
	if whole := c; f.rules(&whole) && f.affected(&whole) && f.marked(&whole) && f.models(&whole) {
		return whole
	}
	c.Truncated, c.Note = true, cutNote
	c.Rules.IgnoreCount, c.Rules.WhitelistCount = len(f.p.lists[Ignore].shown()), len(f.p.lists[Allow].shown())
	left := limit - size(c)
	for _, part := range []struct {
		percent int
		put     func(*Context) bool
	}{{percentRules, f.rules}, {percentAffected, f.affected}, {percentHighlighted, f.marked}, {100, f.models}} {
		f.room = left * part.percent / 100
		given := f.room
		part.put(&c)
		left -= given - f.room
	}
	return c
}

// spend takes what v costs; false, and nothing is taken, when it does not fit.
func (f *filling) spend(v any) bool {
	cost := size(v) + len(",")
	if cost > f.room {
		return false
	}
	f.room -= cost
	return true
}

// rules puts in the rules without what they affect; false when some do not fit.
func (f *filling) rules(c *Context) bool {
	for _, l := range []struct {
		list List
		into *[]ContextRule
	}{{Allow, &c.Rules.Whitelist}, {Ignore, &c.Rules.Ignore}} {
		infos := f.e.Rules(l.list)
		*l.into = make([]ContextRule, 0, len(infos))
		for _, r := range infos {
			rule := ContextRule{shown(r.Pattern), r.Decides, []string{}}
			if !f.spend(rule) {
				return false
			}
			*l.into = append(*l.into, rule)
		}
	}
	return true
}

// affected puts in the models that the rules decide, each rule in turn one, so
// that a long one does not crowd out the others.
func (f *filling) affected(c *Context) bool {
	type source struct {
		into *[]string
		from []string
	}
	var open []source
	for _, l := range []struct {
		list List
		into []ContextRule
	}{{Ignore, c.Rules.Ignore}, {Allow, c.Rules.Whitelist}} {
		for i := range l.into {
			// More than fit are not needed: the shortest takes four characters.
			if ids := f.e.Decided(l.list, i, max(1, f.room/4)); len(ids) > 0 {
				open = append(open, source{&l.into[i].Models, ids})
			}
		}
	}
	for n := 0; len(open) > 0; n++ {
		next := open[:0]
		for _, s := range open {
			name := shown(displayName(f.p.name, s.from[n]))
			if !f.spend(name) {
				return false
			}
			*s.into = append(*s.into, name)
			if n+1 < len(s.from) {
				next = append(next, s)
			}
		}
		open = next
	}
	return true
}

// marked puts in the models that the user has picked out.
func (f *filling) marked(c *Context) bool {
	for _, id := range f.highlighted {
		if id = shown(id); !f.spend(id) {
			return false
		}
		c.UI.Highlighted = append(c.UI.Highlighted, id)
	}
	return true
}

// models puts in the models.
func (f *filling) models(c *Context) bool {
	for _, m := range f.e.Statuses() {
		item := ContextModel{ID: shown(m.ID), Name: shown(displayName(f.p.name, m.ID)), Status: m.Status.String()}
		if m.Index >= 0 {
			item.Rule = &RuleRef{shown(m.Rule), ruleType(m.List)}
		}
		if !f.spend(item) {
			return false
		}
		c.Models.Items = append(c.Models.Items, item)
	}
	return true
}

// size is how many characters v takes as JSON.
func size(v any) int {
	text, err := assistant.PlainJSON(v)
	if err != nil {
		return 0 // only what encodes is put in
	}
	return utf8.RuneCount(text)
}
