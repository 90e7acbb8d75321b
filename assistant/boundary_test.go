package assistant_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

// look is what a screen asks of a session for every frame.
func look(s *assistant.Session) {
	s.Boundary()
	s.Counter()
	s.Visible()
	s.Shown()
	s.Filter()
	s.Draft(assistant.Prompt{Text: "what is typed"})
	s.Quota()
	s.LastSend()
}

// TestTheBoundaryIsComputedOnItsTriggers: once each, at the next look.
func TestTheBoundaryIsComputedOnItsTriggers(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		answers []at.Answer
		before  func(r *rig) // not counted
		do      func(r *rig)
	}{
		"filter executed": {do: func(r *rig) { r.session.SetView(r.session.Visible()[:2], "r2") }},
		"model changed":   {do: func(r *rig) { r.must(r.session.SetModel("test/small")) }},
		"allowance":       {do: func(r *rig) { r.session.SetSettings(settings(func(p *budget.Params) { p.UserRequestAllowance = 7 })) }},
		"chars per token": {do: func(r *rig) { r.session.SetSettings(settings(func(p *budget.Params) { p.CharsPerToken = 2 })) }},
		"pair deleted":    {do: func(r *rig) { r.must(r.session.Delete(ctx, r.session.Visible()[1].Seq)) }},
		"off the filter":  {do: func(r *rig) { r.session.SetView(r.session.Visible()[1:], "s1") }},
		"import":          {do: func(r *rig) { r.must(r.session.LoadView(ctx)) }},
		"context is known": {do: func(r *rig) {
			r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Context: 50_000, Known: true})
		}},
		"tokens a minute": {do: func(r *rig) {
			r.session.Registry().SetQuota("test/script", &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 9000, TokensLeft: -1}, 0, startTime)
		}},
		"reply arrived": {do: func(r *rig) { r.send("new") }},
		"reply after trims": {
			answers: []at.Answer{at.Overflow(), at.Overflow(), {addWord("two")}, at.Overflow(), {at.Say("ok")}},
			do:      func(r *rig) { r.send("new") },
		},
		"an error ends a turn": {answers: []at.Answer{{at.Cut{}}}, do: func(r *rig) { r.send("new") }},
		"a silent pair tried again": {
			answers: []at.Answer{{at.Cut{}}, {at.Say("ok")}},
			before:  func(r *rig) { r.send("new") },
			do:      func(r *rig) { r.turn(assistant.Prompt{Retry: r.last().Seq}) },
		},
		"rollback": {
			answers: []at.Answer{{addWord("two")}, {at.Say("ok")}},
			before:  func(r *rig) { r.send("new") },
			do: func(r *rig) {
				_, err := r.session.Rollback(ctx, r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session))
				r.must(err)
			},
		},
		"new session": {do: func(r *rig) { r.must(r.session.Renew(ctx)) }},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.answers == nil {
				tt.answers = []at.Answer{{at.Say("ok")}}
			}
			r := trimRig(t, 5, at.NewScript(tt.answers...), assistant.Settings{})
			if tt.before != nil {
				tt.before(r)
			}
			look(r.session)
			computed := r.session.Recomputes()
			tt.do(r)
			for range 5 {
				look(r.session)
			}
			wantEqual(t, "computed", r.session.Recomputes()-computed, 1)
		})
	}
}

// Who waits for the next context learns of every change, by whomever it was made, and of
// nothing else.
func TestWhoWaitsLearnsOfEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := registryOf(t, at.NewScript(at.Answer{at.Say("ok")}))
		s, err := assistant.NewSession(registry, assistant.Options{Model: "test/script"})
		if err != nil {
			t.Fatal(err)
		}
		shown, n := s.Shown(), 0
		go func() {
			for u := range s.Follow(t.Context(), s.Version()) {
				if u.Shown != nil {
					shown, n = *u.Shown, n+1
				}
			}
		}()
		for _, c := range []struct {
			what    string
			do      func()
			changed bool
		}{
			{"another program's pairs", func() { s.SetView([]assistant.Ref{{Seq: 1, Cost: 9, Contributes: true}}, "") }, true},
			{"a limit that an error named", func() { registry.LearnLimit("test/script", 900, startTime) }, true},
			{"the same limit again", func() { registry.LearnLimit("test/script", 900, startTime) }, false},
			{"the limit of another model", func() { registry.LearnLimit("test/small", 90, startTime) }, false},
			{"a description", func() { registry.Learn(llm.ModelInfo{ID: "test/small", Reasons: true}) }, false},
			{"tokens a minute", func() {
				registry.SetQuota("test/script", &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 80, TokensLeft: -1}, 0, startTime)
			}, true},
			{"another model", func() { _ = s.SetModel("test/small") }, true},
			{"a setting", func() { s.SetSettings(settings(func(p *budget.Params) { p.UserRequestAllowance = 7 })) }, true},
			{"a setting that moves nothing", func() {
				s.SetSettings(settings(func(p *budget.Params) { p.UserRequestAllowance, p.MaxTrimAttempts = 7, 3 }))
			}, false},
			{"a look", func() { look(s) }, false},
		} {
			synctest.Wait()
			before := n
			c.do()
			synctest.Wait()
			if (n > before) != c.changed {
				t.Errorf("%s: told %d times", c.what, n-before)
			}
			if want := s.Shown(); shown.Boundary != want.Boundary {
				t.Errorf("%s: told %+v, want %+v", c.what, shown, want)
			}
		}
	})
}

// settings are the default ones with other params.
func settings(change func(*budget.Params)) assistant.Settings {
	var s assistant.Settings
	change(&s.Budget)
	return s
}

// TestTheBoundaryIsComputedOnNothingElse: whatever is looked at, typed, marked
// or set beside the triggers leaves it as it is.
func TestTheBoundaryIsComputedOnNothingElse(t *testing.T) {
	ctx := context.Background()
	r := trimRig(t, 5, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	look(r.session)
	shown, computed := r.session.Boundary(), r.session.Recomputes()
	seq := r.session.Visible()[0].Seq
	for name, do := range map[string]func(){
		"keys":           func() { look(r.session) },
		"star":           func() { r.must(r.session.Mark(ctx, starMark(seq, 2))) },
		"flag and topic": func() { r.must(r.session.Mark(ctx, someMarks(seq))) },
		"topic to come":  func() { r.session.SetTopic("A"); r.session.TopicMoved("A", "B") },
		"trim attempts":  func() { r.session.SetSettings(settings(func(p *budget.Params) { p.MaxTrimAttempts = 3 })) },
		"other settings": func() { r.session.SetSettings(assistant.Settings{ContextTokens: 900, Confirm: assistant.ConfirmNever}) },
		"the same model": func() { r.must(r.session.SetModel("test/script")) },
		"a price": func() {
			r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Facts: llm.Facts{PriceIn: llm.PriceOf(3), PriceOut: llm.PriceOf(4)}})
		},
		"a quota": func() {
			r.session.Registry().SetQuota("test/script", &llm.RateLimits{RequestsPerMinute: 5, RequestsLeft: 5, TokensLeft: 9, TokensReset: time.Second}, 0, startTime)
		},
		"a request shown": func() { _, _, err := r.session.Request(ctx, "what would go out"); r.must(err) },
		"requests sent":   func() { r.sent(seq) },
		"the window":      func() { r.must(r.window.Type("a longer word than any before it")) },
		"an edit":         func() { r.must(r.session.Edit("type", func() error { return r.window.Type("more") })) },
		"saved":           func() { _, err := r.session.Write(ctx, "save", wroteNothing); r.must(err) },
		"the telemetry":   func() { r.session.Records() },
	} {
		do()
		if b := r.session.Boundary(); b != shown || r.session.Recomputes() != computed {
			t.Errorf("%s: %d computations, boundary %+v", name, r.session.Recomputes()-computed, b)
			shown, computed = b, r.session.Recomputes()
		}
	}
}

// While a turn runs, through tools and trims, the boundary stays as it was when
// the message was sent; the pair itself only counts in Y.
func TestTheBoundaryStaysWhileATurnRuns(t *testing.T) {
	gate := at.NewGate()
	r := trimRig(t, 5, at.NewScript(at.Overflow(), at.Answer{addWord("two")}, at.Overflow(), at.Answer{at.Say("text"), at.Stop{At: gate}}), assistant.Settings{})
	look(r.session)
	want, computed := r.session.Boundary(), r.session.Recomputes()
	want.Y++
	r.must(r.window.Type("words that make the system prompt longer than it was"))
	events := r.begin(assistant.Prompt{Text: "new"})
	gate.Wait(t)
	look(r.session)
	if b := r.session.Boundary(); b != want {
		t.Errorf("boundary %+v, want %+v", b, want)
	}
	if err := r.session.Queue(assistant.Prompt{Text: "next"}); err != nil {
		t.Error(err)
	}
	r.session.Dequeue()
	look(r.session)
	wantEqual(t, "computed while it runs", r.session.Recomputes()-computed, 0)
	gate.Open()
	at.Events(t, events)
	look(r.session)
	wantEqual(t, "computed after it", r.session.Recomputes()-computed, 1)
}
