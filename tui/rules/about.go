package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

// about is what is said of the row under the cursor; it is found out once.
type about struct {
	revision    int64
	key         string
	text, short string
}

// aboutRow says of the row under the cursor what the row has no room for. short
// leaves the name out that the row begins with, where that can be done.
func (p *Pane) aboutRow() (text, short string) {
	r, ok := p.at()
	if !ok {
		return "", ""
	}
	d := &p.data
	switch r.kind {
	case rowNotice:
		return shown(d.notices[r.at]), shown(p.inBrief(d.notices[r.at]))
	case rowFinding:
		return p.aboutFinding(p.findings()[r.at]), ""
	case rowChange:
		return p.aboutChange(d.diff[r.at]), ""
	case rowRule, rowModel:
		key := p.rowKey(r)
		if p.about.revision != d.revision || p.about.key != key {
			name, says := "", ""
			if r.kind == rowRule {
				name, says = p.aboutRule(d.rules[r.list][r.at])
			} else {
				name, says = p.aboutModel(d.models[r.at])
			}
			p.about = about{revision: d.revision, key: key, text: name + ": " + says, short: says}
		}
		return p.about.text, p.about.short
	default:
	}
	return "", ""
}

// aboutRule names a rule and says where it comes from and what it does.
func (p *Pane) aboutRule(r modelfilter.RuleView) (name, says string) {
	name = r.List.String() + " " + shown(r.Pattern)
	from := "unsaved"
	if r.Source != "" {
		from = shown(r.Source)
	}
	says = fmt.Sprintf("%s · matches %d, decides %d", from, r.Matches, r.Decides)
	if r.Dead {
		says = from + " · matches no model that is known now"
	}
	if r.Fixed {
		return name, says + " · cannot be edited here"
	}
	scope, err := p.window.On(p.data.provider)
	if err != nil || r.Dead {
		return name, says
	}
	switch c := scope.PreviewRemove(r.List, r.Index); {
	case len(c.Shown) > 0:
		says += fmt.Sprintf(" · without it %s would be shown", assistant.Counted(len(c.Shown), "more model"))
	case len(c.Hidden) > 0:
		says += fmt.Sprintf(" · without it %s would be hidden", assistant.Counted(len(c.Hidden), "more model"))
	default:
		says += " · without it nothing changes"
	}
	return name, says
}

// aboutChange says what a staged change does to the models of the provider
// that is shown; of others ctrl+s tells.
func (p *Pane) aboutChange(c modelfilter.RuleChange) string {
	text := fmt.Sprintf("%s %s", c.List, shown(c.Pattern))
	r, ok := p.data.ruleAt(c.List, c.Pattern)
	switch {
	case !c.Added:
		text += ": deleted"
	case ok && c.Provider == p.data.provider:
		text += ": added, decides " + assistant.Counted(r.Decides, "model")
	default:
		text += ": added"
	}
	return text + " · x takes it back"
}

// aboutModel names a model and says what its status is, and why.
func (p *Pane) aboutModel(m modelfilter.ModelView) (name, says string) {
	name = shown(m.ID)
	e := p.window.Explain(m.ID)
	var also []string
	for _, r := range e.Rules {
		if !r.Decides {
			also = append(also, r.List.String()+" "+shown(r.Pattern))
		}
	}
	switch {
	case m.Unfiltered:
		return name, "not filtered by the proxy, its id does not begin with " + shown(p.data.provider) + "/"
	case m.Status == engine.Ignored:
		says = "hidden by ignore " + shown(m.Rule)
	case m.Status == engine.Whitelisted:
		says = "shown by allow " + shown(m.Rule)
	default:
		says = "shown, no rule matches"
	}
	if rule, ok := p.data.ruleAt(m.RuleList, m.Rule); ok && m.RuleIndex >= 0 && rule.Source != "" {
		says += " (" + shown(rule.Source) + ")"
	}
	if len(also) > 0 {
		const most = 3
		more := ""
		if len(also) > most {
			more = fmt.Sprintf(" and %d more", len(also)-most)
			also = also[:most]
		}
		says += " · also matched by " + strings.Join(also, ", ") + more
	}
	return name, says
}

func (p *Pane) aboutFinding(f engine.Finding) string {
	rule := fmt.Sprintf("%s %s", f.List, shown(f.Pattern))
	by := fmt.Sprintf("%s %s", f.ByList, shown(f.By))
	switch {
	case f.Kind == engine.Dead:
		return rule + " matches no model that is known now · x deletes it"
	case f.Kind == engine.Shadowed && f.By == "":
		return rule + " matches models that other rules decide · enter goes to it"
	case f.Kind == engine.Shadowed:
		return rule + " decides nothing: " + by + " comes before it · enter goes to it"
	case f.Kind == engine.Redundant:
		return rule + " is covered by " + by + " · x deletes it, nothing changes"
	}
	return rule + " may be covered by " + by + ": that was not found out"
}
