package modelfilter

import (
	"unicode/utf8"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/budget"
)

// cutNote tells the model what to do about a cut context.
const cutNote = "The lists are cut to fit; every count is exact. Use get_models_matching_pattern, get_model_details and explain_model_status for the rest."

// filling fills the lists of a context.
type filling struct {
	p           *provider
	e           *engine.Engine
	highlighted []string
}

// contextPart puts the first n items of a list into a context and reports
// whether there are more. percent is the part of what is left, after the parts
// before it, that a cut list may take.
type contextPart struct {
	percent int
	put     func(c *Context, n int) (more bool)
}

// fill returns c with its lists, all of them if they fit into the tokens. Rules
// come first, then what they affect, what the user has highlighted, and models.
func (f *filling) fill(c Context, tokens int) Context {
	parts := []contextPart{{50, f.rules}, {30, f.affected}, {20, f.marked}, {100, f.models}}
	limit := int(float64(tokens) * budget.Params{}.CPT())
	whole := c
	for _, part := range parts {
		part.put(&whole, limit) // an item takes more than one character
	}
	if size(whole) <= limit {
		return whole
	}
	c.Truncated, c.Note = true, cutNote
	c.Rules.IgnoreCount, c.Rules.WhitelistCount = len(f.p.lists[Ignore].shown()), len(f.p.lists[Allow].shown())
	for _, part := range parts {
		used := size(c)
		room := used + (limit-used)*part.percent/100
		part.put(&c, largest(func(n int) (fits, more bool) {
			more = part.put(&c, n)
			return size(c) <= room, more
		}))
	}
	return c
}

// largest is the largest n that fits. It tries twice as many until one does not
// fit or there are no more, so it never tries many times what fits.
func largest(try func(n int) (fits, more bool)) int {
	low, high := 0, 1
	for {
		fits, more := try(high)
		if !fits {
			break
		}
		if low = high; !more {
			return low
		}
		high *= 2
	}
	for high-low > 1 {
		middle := (low + high) / 2
		if fits, _ := try(middle); fits {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// rules puts in the rules without what they affect, allow rules first.
func (f *filling) rules(c *Context, n int) (more bool) {
	for _, l := range []struct {
		list List
		into *[]ContextRule
	}{{Allow, &c.Rules.Whitelist}, {Ignore, &c.Rules.Ignore}} {
		infos := f.e.Rules(l.list)
		first := infos[:min(len(infos), n)]
		n -= len(first)
		more = more || len(first) < len(infos)
		*l.into = make([]ContextRule, len(first))
		for i, r := range first {
			(*l.into)[i] = ContextRule{shown(r.Pattern), r.Decides, []string{}}
		}
	}
	return more
}

// affected puts in up to n models that each rule decides.
func (f *filling) affected(c *Context, n int) (more bool) {
	for list, rules := range map[List][]ContextRule{Ignore: c.Rules.Ignore, Allow: c.Rules.Whitelist} {
		for i := range rules {
			ids := []string{}
			if n > 0 {
				ids = f.e.Decided(list, i, n)
			}
			more = more || len(ids) < rules[i].Affected
			rules[i].Models = displayNames(f.p.name, ids)
		}
	}
	return more
}

// marked puts in the models that the user has highlighted.
func (f *filling) marked(c *Context, n int) (more bool) {
	c.UI.Highlighted = shownAll(f.highlighted[:min(len(f.highlighted), n)])
	return n < len(f.highlighted)
}

// models puts in the models.
func (f *filling) models(c *Context, n int) (more bool) {
	all := f.e.Statuses()
	c.Models.Items = make([]ContextModel, min(len(all), n))
	for i, m := range all[:len(c.Models.Items)] {
		item := ContextModel{ID: shown(m.ID), Name: shown(displayName(f.p.name, m.ID)), Status: m.Status.String()}
		if m.Index >= 0 {
			item.Rule = &RuleRef{shown(m.Rule), ruleType(m.List)}
		}
		c.Models.Items[i] = item
	}
	return n < len(all)
}

// size is how many characters v takes as JSON.
func size(v any) int {
	text, err := assistant.PlainJSON(v)
	if err != nil {
		return 0 // only what encodes is put in
	}
	return utf8.RuneCount(text)
}
