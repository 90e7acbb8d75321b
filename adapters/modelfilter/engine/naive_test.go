package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"winnow/assistant/glob"
)

// naive is the meaning of the rules, written down with nothing to make it fast.
type naive struct {
	provider string
	models   []string
	rules    [2][]string
}

func (n *naive) filtered(id string) bool {
	return !strings.Contains(id, "/") || strings.HasPrefix(id, n.provider+"/")
}

func (n *naive) matches(pattern, id string) bool {
	p := glob.Compile(pattern)
	return n.filtered(id) && (p.Match(id) || p.Match(id[strings.Index(id, "/")+1:]))
}

func (n *naive) status(id string) ModelStatus {
	for _, list := range []List{Allow, Ignore} {
		for i, pattern := range n.rules[list] {
			if n.matches(pattern, id) {
				return ModelStatus{ID: id, Status: map[List]Status{Allow: Whitelisted, Ignore: Ignored}[list], Rule: pattern, Index: i, List: list}
			}
		}
	}
	return ModelStatus{ID: id, Index: -1, Unfiltered: !n.filtered(id)}
}

func (n *naive) matching(pattern string) []string {
	out := []string{}
	for _, id := range n.models {
		if n.matches(pattern, id) {
			out = append(out, id)
		}
	}
	return out
}

// differs returns how e and n disagree, or "".
func (n *naive) differs(e *Engine) string {
	statuses := e.Statuses()
	decided := map[string][]string{}
	hidden := 0
	for i, id := range n.models {
		want := n.status(id)
		if statuses[i] != want || e.Status(id) != want {
			return fmt.Sprintf("status of %q = %+v and %+v, want %+v", id, statuses[i], e.Status(id), want)
		}
		if want.Index >= 0 {
			key := fmt.Sprint(want.List, want.Index)
			decided[key] = append(decided[key], id)
		}
		if want.Status == Ignored {
			hidden++
		}
		explained := -1
		x := e.Explain(id)
		for k, r := range x.Rules {
			if r.Decides {
				explained = k
			}
		}
		if x.ModelStatus != want || (explained == 0) != (want.Index >= 0) || want.Index < 0 && explained >= 0 {
			return fmt.Sprintf("Explain(%q) = %+v, want the first rule to decide %+v", id, x, want)
		}
	}
	if e.Total() != len(n.models) || e.Shown() != len(n.models)-hidden {
		return fmt.Sprintf("%d of %d available, want %d of %d", e.Shown(), e.Total(), len(n.models)-hidden, len(n.models))
	}
	for _, list := range []List{Ignore, Allow} {
		if got := e.Patterns(list); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", n.rules[list]) {
			return fmt.Sprintf("%s rules %q, want %q", list, got, n.rules[list])
		}
		for i, r := range e.Rules(list) {
			want, decides := n.matching(r.Pattern), decided[fmt.Sprint(list, i)]
			if r.Matches != len(want) || fmt.Sprint(e.Matching(r.Pattern)) != fmt.Sprint(n.matching(strings.TrimSpace(r.Pattern))) ||
				r.Decides != len(decides) || fmt.Sprint(e.Decided(list, i, 0)) != fmt.Sprint(decides) ||
				r.Dead != (len(want) == 0) || r.Shadowed != (len(want) > 0 && len(decides) == 0) {
				return fmt.Sprintf("rule %+v models %q decides %q; want %q and %q", r, e.Matching(r.Pattern), e.Decided(list, i, 0), want, decides)
			}
		}
	}
	return ""
}

// randomModels draws n different ids, some of other providers.
func randomModels(rng *rand.Rand, n int) []string {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		id := pick("openai/", "openai/", "openai/", "openai/", "OpenAI/", "azure/", "", "openai/openai/", "openaix/") +
			pick("gpt", "o", "claude", "é", "") + pick("-", "") + pick("3", "4", "4o", "5") +
			pick("", "-mini", "-preview", "/x", "-2024-05-13", "\xff") + pick("", "-a", "-b", "*", "[")
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

func randomPattern(rng *rand.Rand) string {
	pieces := []string{
		"gpt", "gpt-4", "o", "4o", "-", "mini", "preview", "openai/", "/", "*", "*", "*", "*", "?", "[0-9]", "[!0-4]",
		"é", "[z-a]", "[", "\xff", "claude", "2024", "enai/gpt", "i/",
	}
	var b strings.Builder
	if rng.IntN(3) > 0 { // most patterns ought to match something
		b.WriteByte('*')
	}
	for range rng.IntN(4) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	if rng.IntN(3) > 0 {
		b.WriteByte('*')
	}
	return b.String()
}

func randomPatterns(rng *rand.Rand, n int) []string {
	out := make([]string, rng.IntN(n+1))
	for i := range out {
		out[i] = randomPattern(rng)
	}
	return out
}
