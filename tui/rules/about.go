package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
)

// about is what is said of the row under the cursor; it is found out once.
type about struct {
	revision int64
	key      string
	text     string
}

// aboutRow says of the row under the cursor what the row has no room for.
func (p *Pane) aboutRow() string {
	r, ok := p.at()
	if !ok {
		return ""
	}
	d := &p.data
	switch r.kind {
	case rowNotice:
		return shown(d.notices[r.at])
	case rowFinding:
		return p.aboutFinding(p.findings()[r.at])
	case rowChange:
		return p.aboutChange(d.diff[r.at])
	case rowRule, rowModel:
		key := p.rowKey(r)
		if p.about.revision != d.revision || p.about.key != key {
			p.about = about{revision: d.revision, key: key}
			if r.kind == rowRule {
				p.about.text = p.aboutRule(d.rules[r.list][r.at])
			} else {
				p.about.text = p.aboutModel(d.models[r.at])
			}
		}
		return p.about.text
	default:
	}
	return ""
}

func (p *Pane) aboutRule(r modelfilter.RuleView) string {
	from := "unsaved"
	if r.Source != "" {
		from = shown(r.Source)
	}
	text := fmt.Sprintf("%s %s: %s · matches %d, decides %d", r.List, shown(r.Pattern), from, r.Matches, r.Decides)
	if r.Dead {
		text = fmt.Sprintf("%s %s: %s · matches no model that is known now", r.List, shown(r.Pattern), from)
	}
	if r.Fixed {
		return text + " · cannot be edited here"
	}
	scope, err := p.window.On(p.data.provider)
	if err != nil || r.Dead {
		return text
	}
	switch c := scope.PreviewRemove(r.List, r.Index); {
	case len(c.Shown) > 0:
		text += fmt.Sprintf(" · without it %s would be shown", count(len(c.Shown), "more model"))
	case len(c.Hidden) > 0:
		text += fmt.Sprintf(" · without it %s would be hidden", count(len(c.Hidden), "more model"))
	default:
		text += " · without it nothing changes"
	}
	return text
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
		text += ": added, decides " + count(r.Decides, "model")
	default:
		text += ": added"
	}
	return text + " · x takes it back"
}

func (p *Pane) aboutModel(m modelfilter.ModelView) string {
	text := shown(m.ID)
	e := p.window.Explain(m.ID)
	var also []string
	for _, r := range e.Rules {
		if !r.Decides {
			also = append(also, r.List.String()+" "+shown(r.Pattern))
		}
	}
	switch {
	case m.Unfiltered:
		return text + ": not filtered by the proxy, its id does not begin with " + shown(p.data.provider) + "/"
	case m.Status == engine.Ignored:
		text += ": hidden by ignore " + shown(m.Rule)
	case m.Status == engine.Whitelisted:
		text += ": shown by allow " + shown(m.Rule)
	default:
		text += ": shown, no rule matches"
	}
	if rule, ok := p.data.ruleAt(m.RuleList, m.Rule); ok && m.RuleIndex >= 0 && rule.Source != "" {
		text += " (" + shown(rule.Source) + ")"
	}
	if len(also) > 0 {
		const most = 3
		more := ""
		if len(also) > most {
			more = fmt.Sprintf(" and %d more", len(also)-most)
			also = also[:most]
		}
		text += " · also matched by " + strings.Join(also, ", ") + more
	}
	return text
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
