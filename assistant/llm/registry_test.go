package llm_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

var startTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestRegistry(t *testing.T) {
	registry := &llm.Registry{}
	fails := errors.New("down")
	up := true
	p := llm.Provider{
		Name: "p", Model: at.NewScript(), Known: []llm.ModelInfo{{ID: "p/a", Context: 10, Known: true, Source: "catalogue", Facts: llm.Facts{PriceIn: llm.PriceOf(1)}}},
		List: func(context.Context) ([]llm.ModelInfo, error) {
			if !up {
				return nil, fails
			}
			return []llm.ModelInfo{{ID: "p/a", Source: "live"}, {ID: "p/b", Source: "live"}}, nil
		},
	}
	if err := registry.Add(p); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []llm.Provider{p, {Name: "q"}, {Name: "a/b", Model: p.Model}, {Model: p.Model}} {
		var config *llm.ConfigError
		if err := registry.Add(bad); !errors.As(err, &config) {
			t.Errorf("Add(%q) = %v", bad.Name, err)
		}
	}
	wantEqual(t, "refresh", len(registry.Refresh(t.Context())), 0)
	up = false
	wantEqual(t, "failed refresh", registry.Refresh(t.Context(), "p")["p"], fails)
	models := registry.Models()
	if len(models) != 2 || models[0].Context != 10 || models[0].Facts.PriceIn != llm.PriceOf(1) || models[0].Source != "live" {
		t.Errorf("models = %+v", models)
	}
	registry.Learn(llm.ModelInfo{ID: "p/a", TPM: 5})
	if m := registry.Models()[0]; m.Source != "live" || m.TPM != 5 || m.Context != 10 {
		t.Errorf("after a sparse lesson: %+v", m)
	}
	if _, _, _, err := registry.Open("pp/x"); err == nil || !strings.Contains(err.Error(), "Did you mean 'p'?") {
		t.Errorf("unknown provider: %v", err)
	}
	if _, _, _, err := registry.Open("p"); err == nil {
		t.Error("a model without name opens")
	}
	if _, name, info, err := registry.Open("p/org/new"); err != nil || name != "org/new" || info.ID != "p/org/new" {
		t.Errorf("unlisted: %q, %+v, %v", name, info, err)
	}
}

func TestWhatAnEarlierRunKept(t *testing.T) {
	registry, listed := &llm.Registry{}, []llm.ModelInfo(nil)
	var failed error
	var learned []string
	err := registry.Add(llm.Provider{
		Name: "p", Model: at.NewScript(), List: func(context.Context) ([]llm.ModelInfo, error) { return listed, failed },
		Stored: func() []llm.ModelInfo {
			return []llm.ModelInfo{{ID: "p/a", Source: "cache", Retrieved: startTime}, {ID: "p/b", Source: "cache", Retrieved: startTime}}
		},
		Limits:  map[string]llm.LearnedLimit{"p/a": {Tokens: 700, At: startTime}},
		OnLimit: func(id string, l llm.LearnedLimit) { learned = append(learned, fmt.Sprint(id, " ", l.Tokens)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(list []llm.ModelInfo) string {
		var out []string
		for _, m := range list {
			out = append(out, m.ID)
		}
		return strings.Join(out, " ")
	}
	wantEqual(t, "before it is restored", ids(registry.Models()), "")
	registry.Restore()
	wantEqual(t, "restored", ids(registry.Models()), "p/a p/b")
	failed = errors.New("down")
	registry.Refresh(t.Context())
	wantEqual(t, "after a failure", ids(registry.Models())+"|"+ids(registry.Gone()), "p/a p/b|")
	failed, listed = nil, []llm.ModelInfo{{ID: "p/a", Source: "live", Context: 9000}, {ID: "p/old", Gone: true}}
	registry.Refresh(t.Context())
	wantEqual(t, "after an answer", ids(registry.Models())+"|"+ids(registry.Gone()), "p/a|p/b p/old")
	_, _, _, err = registry.Open("p/b")
	want := "p/b is no longer listed by its endpoint (last seen " + startTime.Local().Format("2006-01-02 15:04") + ")"
	if !errors.Is(err, llm.ErrModelGone) || err.Error() != want {
		t.Errorf("Open = %v, want %q", err, want)
	}
	if _, _, _, err = registry.Open("p/old"); err == nil || err.Error() != "p/old is no longer listed by its endpoint" {
		t.Errorf("Open of one without a time = %v", err)
	}
	if _, _, _, err = registry.Open("p/by-hand"); err != nil {
		t.Errorf("Open of one that was never listed = %v", err)
	}

	// A limit that an error named stands against every list.
	for _, id := range []string{"p/a", "p/by-hand"} {
		if id == "p/by-hand" {
			registry.LearnLimit(id, 800, startTime)
		}
		_, _, m, _ := registry.Open(id)
		if m.Context == 9000 || m.Limit().ML() != m.Context || !m.Known || !strings.HasPrefix(m.LimitFrom(), "an overflow error, 2026-") {
			t.Errorf("%s: %+v", id, m)
		}
	}
	wantEqual(t, "limit in the list", registry.Models()[0].Context, 700)
	wantEqual(t, "stored", strings.Join(learned, ", "), "p/by-hand 800")
	wantEqual(t, "a limit makes no model", ids(registry.Models()), "p/a")
	wantEqual(t, "limit from a quota", llm.ModelInfo{Context: 9000, TPM: 100, ContextFrom: llm.FromCatalogue}.LimitFrom(), "its tokens-per-minute limit")
	wantEqual(t, "limit from nothing", llm.ModelInfo{}.LimitFrom(), "assumed")

	// An endpoint that was not asked has an empty list: nothing is gone.
	listed = nil
	registry.Refresh(t.Context())
	wantEqual(t, "after an empty list", ids(registry.Models())+"|"+ids(registry.Gone()), "|")
}

func TestAQuotaIsWhatWasSaidLast(t *testing.T) {
	const s = time.Second
	limits := func(rpm, requests int, rReset time.Duration, tpm, tokens int, tReset time.Duration) *llm.RateLimits {
		return &llm.RateLimits{
			RequestsPerMinute: rpm, RequestsLeft: requests, RequestsReset: rReset,
			TokensPerMinute: tpm, TokensLeft: tokens, TokensReset: tReset,
		}
	}
	for name, tt := range map[string]struct {
		said *llm.RateLimits
		wait time.Duration
		at   time.Duration // after it was said
		want llm.Quota
	}{
		"at once":             {limits(10, 9, 6*s, 3000, 2000, 20*s), 0, 0, llm.Quota{RateLimits: llm.RateLimits{RequestsPerMinute: 10, RequestsLeft: 9, RequestsReset: 6 * s, TokensPerMinute: 3000, TokensLeft: 2000, TokensReset: 20 * s}}},
		"before the reset":    {limits(10, 9, 6*s, 3000, 2000, 20*s), 0, 5 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsPerMinute: 10, RequestsLeft: 9, RequestsReset: s, TokensPerMinute: 3000, TokensLeft: 2000, TokensReset: 15 * s}}},
		"after one of them":   {limits(10, 9, 6*s, 3000, 2000, 20*s), 0, 6 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsPerMinute: 10, RequestsLeft: 10, TokensPerMinute: 3000, TokensLeft: 2000, TokensReset: 14 * s}}},
		"used up":             {limits(0, -1, 0, 3000, 0, 20*s), 0, 19 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 3000, TokensLeft: 0, TokensReset: s}}},
		"used up, and over":   {limits(0, -1, 0, 3000, 0, 20*s), 0, 20 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 3000, TokensLeft: 3000}}},
		"only the limit":      {limits(0, -1, 0, 3000, -1, 0), 0, s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 3000, TokensLeft: -1}}},
		"none, and no reset":  {limits(0, 0, 0, 3000, -1, 0), 0, 59 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: 0, RequestsReset: s, TokensPerMinute: 3000, TokensLeft: -1}}},
		"without a reset":     {limits(0, -1, 0, 3000, 7, 0), 0, 59 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 3000, TokensLeft: 7, TokensReset: s}}},
		"a minute later":      {limits(0, -1, 0, 3000, 7, 0), 0, 60 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 3000, TokensLeft: 3000}}},
		"without a limit":     {limits(0, -1, 0, 0, 7, 9*s), 0, 8 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensLeft: 7, TokensReset: s}}},
		"that is over":        {limits(0, -1, 0, 0, 7, 9*s), 0, 9 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensLeft: -1}}},
		"a refusal":           {nil, 30 * s, 10 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensLeft: -1}, Wait: 20 * s}},
		"a refusal, over":     {nil, 30 * s, 30 * s, llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensLeft: -1}}},
		"a refusal with both": {limits(10, 0, 9*s, 0, -1, 0), 30 * s, s, llm.Quota{RateLimits: llm.RateLimits{RequestsPerMinute: 10, RequestsLeft: 0, RequestsReset: 8 * s, TokensLeft: -1}, Wait: 29 * s}},
	} {
		r := &llm.Registry{}
		r.SetQuota("p/m", tt.said, tt.wait, startTime)
		got, ok := r.Quota("p/m", startTime.Add(tt.at))
		tt.want.Model, tt.want.At = "p/m", startTime
		if !ok || got != tt.want {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, ok, tt.want)
		}
	}
	r := &llm.Registry{}
	r.SetQuota("p/m", nil, 0, startTime)
	if q, ok := r.Quota("p/m", startTime); ok {
		t.Errorf("out of nothing came %+v", q)
	}
	// Good news ends a pause, and what is not said again is not known any more.
	r.SetQuota("p/m", nil, time.Hour, startTime)
	r.SetQuota("p/m", limits(10, 9, s, 0, -1, 0), 0, startTime)
	if q, _ := r.Quota("p/m", startTime); q.Wait != 0 || q.RequestsLeft != 9 || q.TokensLeft != -1 {
		t.Errorf("after an answer: %+v", q)
	}
}

func TestQuotaRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		q    llm.Quota
		n    int
		want bool
	}{
		"room":           {llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: 1, TokensLeft: 100}}, 100, false},
		"no room":        {llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: 1, TokensLeft: 100}}, 101, true},
		"unknown tokens": {llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: 1, TokensLeft: -1}}, 1 << 30, false},
		"no request":     {llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: 0, TokensLeft: 100}}, 1, true},
		"unknown both":   {llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensLeft: -1}}, 1, false},
		"a pause":        {llm.Quota{RateLimits: llm.RateLimits{RequestsLeft: -1, TokensLeft: -1}, Wait: 1}, 1, true},
	} {
		wantEqual(t, name, tt.q.WouldReject(tt.n), tt.want)
	}
}

func TestUsagesAdd(t *testing.T) {
	one, two := &llm.Usage{1, 2, 3, 4}, &llm.Usage{10, 20, 30, 40}
	for name, c := range map[string]struct{ a, b, want *llm.Usage }{
		"both": {one, two, &llm.Usage{11, 22, 33, 44}}, "the first": {one, nil, one}, "the second": {nil, two, two}, "none": {nil, nil, nil},
	} {
		if got := c.a.Plus(c.b); got != c.want && (got == nil || c.want == nil || *got != *c.want) {
			t.Errorf("%s: Plus = %v, want %v", name, got, c.want)
		}
	}
}

// The models of a provider have its name: others could be listed and not opened.
func TestModelsOfAnotherNameAreRefused(t *testing.T) {
	other := []llm.ModelInfo{{ID: "openai/a"}}
	registry := &llm.Registry{}
	refused := func(err error) {
		t.Helper()
		if c, ok := errors.AsType[*llm.ConfigError](err); !ok || !strings.Contains(c.Reason, `provider "house" has a model "openai/a"`) {
			t.Errorf("the error is %v", err)
		}
	}
	refused(registry.Add(llm.Provider{Name: "house", Model: at.NewScript(), Known: other}))
	err := registry.Add(llm.Provider{Name: "house", Model: at.NewScript(), List: func(context.Context) ([]llm.ModelInfo, error) { return other, nil }})
	if err != nil {
		t.Fatal(err)
	}
	refused(registry.Refresh(t.Context())["house"])
	if models := registry.Models(); len(models) != 0 {
		t.Errorf("models %v", models)
	}
}

func TestDefaultSelectionWithoutRequirements(t *testing.T) {
	_, err := llm.DefaultSelection(llm.Need{}, []llm.ModelInfo{{ID: "a/embed", NoChat: true}})
	if want := "config: model: no known model meets these requirements: chat"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}
