package modelfilter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
)

// planned is what plan_rules returns for one provider.
type planned struct {
	Proposal
	Hides, Shows           []string
	HidesCount, ShowsCount int
	Notes                  []string
}

// planRules calls plan_rules.
func (o *operator) planRules(a planArgs) (plans []planned, r assistant.ToolResult) {
	o.t.Helper()
	args, err := json.Marshal(a)
	o.must(err)
	r = o.call("plan_rules", string(args))
	data, err := json.Marshal(r.Data)
	o.must(err)
	var all struct{ Plans []planned }
	o.must(json.Unmarshal(data, &all))
	return all.Plans, r
}

// stage makes the edits of a plan.
func (o *operator) stage(p planned) {
	o.t.Helper()
	s, err := o.On(p.Provider)
	o.must(err)
	for _, c := range p.changes() {
		if c.Added {
			_, err = s.Add(c.List, c.Pattern)
		} else {
			err = s.Remove(c.List, c.Pattern)
		}
		o.must(err)
	}
}

// TestAPlanDoesWhatItSays stages plans of random actions on random models: just the models that
// it names change, those that were meant end up as the action says, and no other known model
// is hidden or shown.
func TestAPlanDoesWhatItSays(t *testing.T) {
	t.Parallel()
	models := []string{"mini", "nano", "gpt-4 models", "gpt-4", "claude", "price>10", "price<2 tools", "unused:30d", "newest gpt", "newest 2 claude", "*turbo*", "preview", "o3", "flash", "gpt-3.5-turbo", "16k", "status:deprecated", "sonnet 4.5", "gpt mini"}
	rnd := rand.New(rand.NewPCG(7, 8))
	for range assistanttest.Rounds(40, 400) {
		o := newOperator(t)
		a := planArgs{Action: []string{"hide", "hide", "show", "allow", "only"}[rnd.IntN(5)], Models: []string{models[rnd.IntN(len(models))]}, Provider: []string{"", "*", "openai", "anthropic"}[rnd.IntN(4)]}
		if rnd.IntN(2) == 0 {
			a.Models = append(a.Models, models[rnd.IntN(len(models))])
		}
		if rnd.IntN(3) == 0 {
			a.Except = []string{models[rnd.IntN(len(models))]}
		}
		before := allHidden(t, o.Window)
		plans, r := o.planRules(a)
		if got := allHidden(t, o.Window); !slices.Equal(got, before) || len(o.Diff()) > 0 {
			t.Fatalf("%+v changes rules", a)
		}
		want := slices.Clone(before)
		for _, p := range plans {
			if len(p.Hides) > 0 && a.Action != "hide" && a.Action != "only" {
				t.Errorf("%+v hides %q", a, p.Hides)
			}
			for _, name := range p.Hides {
				want = append(want, p.Provider+"/"+name)
			}
			want = slices.DeleteFunc(want, func(id string) bool {
				return slices.Contains(p.Shows, strings.TrimPrefix(id, p.Provider+"/"))
			})
			o.stage(p)
		}
		got := allHidden(t, o.Window)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%+v plans %+v: hidden are %q, want %q", a, plans, got, want)
		}
		if !r.Success || len(a.Except) > 0 || a.Action == "only" {
			continue
		}
		found, _, err := o.findNamed(a.Models, where(t, ""), cmp.Or(a.Provider, "*"))
		o.must(err)
		for _, p := range plans {
			for _, name := range append(p.Hides, p.Shows...) {
				if !slices.ContainsFunc(found.Models, func(m FoundModel) bool { return m.Info.ID == p.Provider+"/"+name }) {
					t.Errorf("%+v changes %s, which was not meant: %+v", a, name, p)
				}
			}
		}
		for _, m := range found.Models {
			if a.Provider != "" && m.Hidden != (a.Action == "hide") && a.Action != "allow" && m.Status.Rule != "gpt-4o" {
				t.Errorf("after %+v %s is hidden: %t; the plan is %+v", a, m.Info.ID, m.Hidden, plans)
			}
		}
	}
}

// TestAPlanCountsWhatIsUnknown: a model of which a fact is unknown is left out and counted, and a
// word that is nearly one of a name is suggested.
func TestAPlanCountsWhatIsUnknown(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	_, r := o.planRules(planArgs{Action: "hide", Models: []string{"price>10"}, Provider: "openai"})
	if !strings.Contains(r.Message, "Left out because a property is unknown: 8 models.") {
		t.Errorf("it says %q", r.Message)
	}
	for _, bad := range []planArgs{{Action: "hide"}, {Action: "hide", Models: []string{"price>ten"}}, {Action: "hide", Models: []string{"mini"}, Provider: "opnai"}, {Action: "hide", Models: []string{"mini"}, Except: []string{"zork"}}} {
		if _, r := o.planRules(bad); r.Success {
			t.Errorf("%+v is planned: %s", bad, r.Message)
		}
	}
	if _, r := o.planRules(planArgs{Action: "hide", Models: []string{"sonet"}}); !strings.Contains(fmt.Sprint(r.Data), "near:[sonnet]") {
		t.Errorf("%v", r.Data)
	}
}

func TestNewRelease(t *testing.T) {
	for id, want := range map[string]string{
		"openai/gpt-5.6-sol":                    "[5 6] 99999999 gpt-#-sol",
		"openai/gpt-4o-2024-08-06":              "[4] 20240806 gpt-#o",
		"openai/gpt-4-0613":                     "[4] 613 gpt-#",
		"openai/gpt-3.5-turbo-16k":              "[3 5] 99999999 gpt-#-turbo-16k",
		"openai/o3-mini":                        "[3] 99999999 o#-mini",
		"anthropic/claude-3-5-sonnet-20241022":  "[3 5] 20241022 claude-#-sonnet",
		"anthropic/claude-3-5-sonnet-latest":    "[3 5] 99999999 claude-#-sonnet",
		"anthropic/claude-opus-4-5-20251101":    "[4 5] 20251101 claude-opus-#",
		"gemini/gemini-1.5-pro-002":             "[1 5] 2 gemini-#-pro",
		"x/meta-llama/llama-3.3-70b-instruct":   "[3 3] 99999999 llama-#-70b-instruct",
		"x/qwen3-235b-a22b":                     "[3] 99999999 qwen#-235b-a22b",
		"deepseek/deepseek-v3.1":                "[3 1] 99999999 deepseek-v#",
		"openai/gpt-oss-120b":                   "[] 99999999 gpt-oss-120b",
		"mistral/mixtral-8x7b":                  "[] 99999999 mixtral-8x7b",
		"openai/gpt-99999999999999999999999999": "[] 99999999 gpt-99999999999999999999999999",
	} {
		m := FoundModel{}
		m.Info.ID = id
		r := newRelease(m)
		if got := fmt.Sprint(r.version, r.date, " ", r.series); got != want {
			t.Errorf("newRelease(%s) = %s, want %s", id, got, want)
		}
	}
}
