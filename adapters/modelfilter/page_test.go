package modelfilter

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/offline"
	"winnow/assistant/openai"
	"winnow/checkpoint"
)

func TestPageOffersWhatItSays(t *testing.T) {
	f := fresh(t, plainEnv)
	pages := &assistant.Pages{}
	f.must(Register(pages, f.Window))
	for _, tab := range []string{TabRules, TabModels, TabAll, TabChanges} {
		f.must(f.SetTab(tab))
		at, err := pages.At(f.Where())
		f.must(err)
		if at.Page.Name != "model_filter" || len(at.Payloads) != 1 || at.Payloads[0].Name != "rule_proposal" {
			t.Errorf("%s offers %+v", tab, at)
		}
		if text := at.Page.Context(f.Where()); !strings.Contains(text, "openai") {
			t.Errorf("%s: context %q", tab, text)
		}
		if _, ok := at.Page.Tabs[tab]; !ok {
			t.Errorf("there is no tab %s", tab)
		}
	}
	if err := f.SetTab("nowhere"); err == nil || f.Where().Tab != TabChanges {
		t.Errorf("SetTab(nowhere) = %v", err)
	}
	var actions []string
	offered, err := pages.At(f.Where())
	f.must(err)
	for _, a := range offered.Page.ClientActions {
		actions = append(actions, a.Action)
	}
	for _, want := range []string{"show_models", "show_changes", "open_save"} {
		if !slices.Contains(actions, want) {
			t.Errorf("no client action %s", want)
		}
	}
	if err := Register(pages, f.Window); err == nil {
		t.Error("it can be registered twice")
	}
}

// What the user sees of all providers is told in numbers: those of each that is known.
func TestTheContextKnowsThatAllProvidersAreShown(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(f.SetTab(TabAll))
	f.Counts() // its models are known from now on
	want := fmt.Sprintf("The user is looking at the counts of all providers. Shown models: openai %d of %d. The models of 1 provider are not known yet. The current provider is openai.", f.Counts().Shown, f.Counts().Total)
	if text := f.pageContext(f.Where()); text != want {
		t.Errorf("said %q, want %q", text, want)
	}
}

func TestPositionIsRestored(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(f.SetProvider("gemini"))
	f.must(f.SetTab(TabModels))
	f.must(f.SetSearch("pro"))
	raw, err := json.Marshal(second2(f.Position()))
	f.must(err)
	f.open()
	_, mark := f.Changes(0)
	f.must(f.SetPosition(raw))
	if f.Provider() != "gemini" || f.Where().Tab != TabModels || f.Search() != "pro" {
		t.Errorf("restored provider %s, tab %s, search %q", f.Provider(), f.Where().Tab, f.Search())
	}
	if told, _ := f.Changes(mark); len(told) != 0 {
		t.Errorf("the assistant is told %v", told)
	}
	f.must(f.SetPosition(json.RawMessage(`{"provider":"gone","tab":"gone"}`)))
	if f.Provider() != "gemini" || f.Where().Tab != TabModels {
		t.Errorf("what does not exist moved the window to %s, %s", f.Provider(), f.Where().Tab)
	}
	if err := f.SetPosition(json.RawMessage(`[`)); err == nil {
		t.Error("a damaged position was taken")
	}
}

func TestEffectOfAllRulesTogether(t *testing.T) {
	f := fresh(t, plainEnv)
	e, refused, err := f.Effect(Proposal{AddIgnore: []string{"gpt-4*"}, AddAllow: []string{"gpt-4*"}})
	if err != nil || len(refused) != 0 || len(e.Hidden) != 0 || !e.Known {
		t.Errorf("Effect = %+v, %v, %v; want nothing hidden", e, refused, err)
	}
}

// TestDiscardOfNothingIsIdle looks at the tool with and without staged rules.
func TestDiscardOfNothingIsIdle(t *testing.T) {
	f := fresh(t, plainEnv)
	for _, tool := range f.Tools() {
		if tool.Name != "discard_changes" {
			continue
		}
		if !tool.NoOp(nil) {
			t.Error("discarding nothing is a change")
		}
		f.must(second(f.Add(Ignore, "o1")))
		if tool.NoOp(nil) {
			t.Error("discarding a rule is no change")
		}
	}
}

// TestRefreshCountsAgainstTheCachedList refreshes a provider that nobody looked at yet.
func TestRefreshCountsAgainstTheCachedList(t *testing.T) {
	f := fresh(t, plainEnv)
	f.shelf.fetched["gemini"] = ModelList{Provider: "gemini", IDs: append(slices.Clone(geminiModels), "gemini/x", "gemini/y"), Source: "proxy"}
	f.shelf.keeps = true
	r, err := f.Refresh(t.Context(), "gemini")
	if err != nil || len(r.Added) != 2 || len(r.Gone) != 0 {
		t.Errorf("Refresh = %+v, %v; want 2 added", r, err)
	}
}

func TestProposal(t *testing.T) {
	f := fresh(t, plainEnv)
	kind := proposalType(f.Window)
	if kind.Marker != "RULE_PROPOSAL:" || kind.Source != assistant.FromBoth || !strings.Contains(kind.Instructions, kind.Marker+" {") {
		t.Fatalf("payload type = %+v", kind)
	}
	tests := map[string]struct{ raw, want string }{
		"whole":    {`{"add_ignore":["o1"],"add_whitelist":["gpt-4"],"remove_ignore":["*-preview"],"remove_whitelist":["gpt-4o-preview"],"reasoning":"r"}`, "remove_ignore_rule *-preview, remove_whitelist_rule gpt-4o-preview, add_whitelist_rule gpt-4, add_ignore_rule o1"},
		"extra":    {`{"add_ignore":["o1"],"reasoning":"r","title":"t"}`, "add_ignore_rule o1"},
		"nothing":  {`{"add_ignore":[],"reasoning":"r"}`, "changes no rule"},
		"empty":    {`{"add_ignore":[" "],"reasoning":"r"}`, "empty pattern"},
		"no JSON":  {`{`, "cannot be read"},
		"too much": {`{"reasoning":"r","add_ignore":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 101), ",") + `]}`, "101 rules"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := kind.Begin(f.Window)(json.RawMessage(tt.raw))
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Parse = %v, want %q", err, tt.want)
				}
				return
			}
			f.must(f.SetProvider("gemini")) // who has moved on meanwhile
			calls, err := kind.Calls(data)
			f.must(f.SetProvider("openai"))
			f.must(err)
			var got []string
			for _, c := range calls {
				var a ruleArgs
				f.must(json.Unmarshal([]byte(c.Arguments), &a))
				if a.Provider != "openai" {
					t.Errorf("%s goes to %q", c.Name, a.Provider)
				}
				got = append(got, c.Name+" "+a.Pattern)
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("calls = %s, want %s", s, tt.want)
			}
			if s := kind.Summarize(data); !strings.Contains(s, "ignore `o1`") || !strings.Contains(s, "for openai") {
				t.Errorf("summary = %q", s)
			}
		})
	}
	effect, refused, err := f.Effect(Proposal{AddIgnore: []string{"o1", "o1-preview"}, RemoveIgnore: []string{"gpt-3.5*", "nope"}})
	if err != nil || len(refused) != 2 || !slices.Equal(effect.Hidden, []string{"openai/o1"}) || len(effect.Shown) != 2 {
		t.Errorf("Effect = %+v, %v, %v", effect, refused, err)
	}
	if f.Dirty() {
		t.Error("looking at a proposal staged it")
	}
	if _, _, err := f.Effect(Proposal{Provider: "nowhere", AddIgnore: []string{"x"}}); err == nil {
		t.Error("a proposal for no provider has an effect")
	}
}

// talk is a session over the window with the offline model on the real wire.
func talk(t *testing.T, f *fixture) *assistant.Session {
	t.Helper()
	client, err := openai.New(openai.Options{BaseURL: offline.BaseURL, Name: "offline", HTTP: offline.Client(0)})
	f.must(err)
	registry := &llm.Registry{}
	f.must(registry.Add(llm.Provider{
		Name: "offline", Model: client,
		Known: []llm.ModelInfo{{ID: "offline/rules", Context: offline.ContextWindow, Known: true, Tools: true}},
	}))
	journal, err := checkpoint.Open(filepath.Join(t.TempDir(), "journal"), checkpoint.Options{})
	f.must(err)
	t.Cleanup(func() { _ = journal.Close() })
	pages := &assistant.Pages{}
	f.must(Register(pages, f.Window))
	s, err := assistant.NewSession(registry, assistant.Options{Window: f.Window, Pages: pages, Journal: journal, Model: "offline/rules"})
	f.must(err)
	f.must(s.Start(t.Context()))
	return s
}

// say sends a text and answers a question about something lasting with yes.
func say(t *testing.T, s *assistant.Session, text string) (all []assistant.Event, asked string) {
	t.Helper()
	events, err := assistanttest.Send(t.Context(), s, assistant.Prompt{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if ask, ok := e.(assistant.ConfirmRequest); ok {
			asked = string(ask.Diff)
			if err := s.Answer(ask.ID, true); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, e)
	}
	return all, asked
}

func TestTheAssistantFiltersModels(t *testing.T) {
	f := fresh(t, plainEnv)
	s := talk(t, f)
	events, _ := say(t, s, "hide all o1 models")
	if got := f.patterns(Ignore); len(got) != 3 || f.Explain("openai/o1").Status.String() != "ignored" {
		t.Fatalf("rules = %q after %v", got, assistanttest.EventText(events))
	}
	if text := assistanttest.EventText(events); !strings.Contains(text, "o1") {
		t.Errorf("it says %q", text)
	}
	if f.Locked() || f.file() != plainEnv {
		t.Error("the window is locked, or the file changed")
	}
	events, asked := say(t, s, "save the changes")
	if !strings.Contains(asked, "+ IGNORE_MODELS_OPENAI=*-preview,gpt-3.5*,o1*") || !strings.Contains(asked, "openai: 1 model becomes hidden\n  o1") {
		t.Errorf("it asks with\n%s", asked)
	}
	if f.Dirty() || f.file() == plainEnv {
		t.Errorf("not saved: %s", assistanttest.EventText(events))
	}
	points := s.Checkpoints()
	newest, _ := s.LastStep()
	if _, err := s.Rollback(t.Context(), points[0].ID, checkpoint.ScopeBoth, newest.ID); err != nil {
		t.Fatal(err)
	}
	f.wantRules(Ignore, "*-preview", "gpt-3.5*")
	if !f.Dirty() {
		t.Error("a rollback past a save leaves unsaved rules, and touches no file")
	}
	plan, err := s.PlanUndoRollback()
	f.must(err)
	f.must(s.UndoRollback(t.Context(), plan.Digest))
	if f.Dirty() || len(f.patterns(Ignore)) != 3 {
		t.Error("the rollback was not undone")
	}
}

func TestAProposalIsCarriedOutWhenItIsAccepted(t *testing.T) {
	f := fresh(t, plainEnv)
	s := talk(t, f)
	events, _ := say(t, s, "propose rules for hiding o1 models")
	calls := assistanttest.Only[assistant.ToolComplete](events)
	i := slices.IndexFunc(calls, func(c assistant.ToolComplete) bool { return c.Payload != nil && c.Payload.Type == PayloadProposal })
	if i < 0 || f.Dirty() {
		t.Fatalf("calls = %+v, text %q", calls, assistanttest.EventText(events))
	}
	p, err := ReadProposal(calls[i].Payload.Data)
	if err != nil || p.Provider != "openai" || len(p.AddIgnore) == 0 {
		t.Fatalf("proposal = %+v, %v", p, err)
	}
	refs := s.Visible()
	after, err := s.Decide(t.Context(), refs[len(refs)-1].Seq, []string{calls[i].Payload.ID}, true)
	f.must(err)
	assistanttest.Events(t, assistanttest.Read(s, after))
	if f.Explain("openai/o1").Status.String() != "ignored" || len(s.Checkpoints()) != 2 {
		t.Errorf("rules = %q, %d checkpoints", f.patterns(Ignore), len(s.Checkpoints()))
	}
}

// scripted is a session over the window with a model that makes these calls, one for each message.
func scripted(t *testing.T, f *fixture, calls ...assistanttest.Call) *assistant.Session {
	t.Helper()
	var answers []assistanttest.Answer
	for _, c := range calls {
		answers = append(answers, assistanttest.Answer{c}, assistanttest.Answer{assistanttest.Say("ok")})
	}
	registry := &llm.Registry{}
	f.must(registry.Add(llm.Provider{Name: "test", Model: assistanttest.NewScript(answers...)}))
	journal, err := checkpoint.Open(filepath.Join(t.TempDir(), "journal"), checkpoint.Options{})
	f.must(err)
	t.Cleanup(func() { _ = journal.Close() })
	pages := &assistant.Pages{}
	f.must(Register(pages, f.Window))
	s, err := assistant.NewSession(registry, assistant.Options{Window: f.Window, Pages: pages, Journal: journal, Model: "test/model"})
	f.must(err)
	f.must(s.Start(t.Context()))
	return s
}

func result(t *testing.T, s *assistant.Session, text string) assistant.ToolComplete {
	t.Helper()
	events, _ := say(t, s, text)
	return assistanttest.Only[assistant.ToolComplete](events)[0]
}

func TestTheAssistantProposesByATool(t *testing.T) {
	f := fresh(t, plainEnv)
	s := scripted(t, f, assistanttest.Call{Name: "propose_rules", Arguments: `{"add_ignore":["o1*"],"reasoning":"r"}`})
	got := result(t, s, "propose")
	if !got.Success || got.Payload == nil || got.Payload.Type != PayloadProposal || f.Dirty() {
		t.Fatalf("propose_rules = %+v", got)
	}
	refs := s.Visible()
	after, err := s.Decide(t.Context(), refs[len(refs)-1].Seq, []string{got.Payload.ID}, true)
	f.must(err)
	assistanttest.Events(t, assistanttest.Read(s, after))
	f.wantRules(Ignore, "*-preview", "gpt-3.5*", "o1*")
}

// The position of the user is no step: looking at another provider keeps the assistant from nothing. The window then
// shows what the turn has changed.
func TestTheAssistantUndoesRulesOnly(t *testing.T) {
	f := fresh(t, plainEnv)
	add := assistanttest.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"o1"}`}
	undo := assistanttest.Call{Name: "undo", Arguments: `{}`}
	s := scripted(t, f, add, undo, add, undo)
	result(t, s, "hide o1")
	f.must(s.Edit("Switch to gemini", func() error { return f.SetProvider("gemini") }))
	mark := int64(0)
	_, mark = f.Changes(mark)
	got := result(t, s, "undo that")
	if !got.Success || !strings.Contains(got.Message, "Undid 1 step: hid o1 on openai") || f.Provider() != "openai" {
		t.Errorf("undo = %+v, on %s", got, f.Provider())
	}
	if changes, _ := f.Changes(mark); len(changes) > 0 {
		t.Errorf("an undo of the assistant counts as the user's: %v", changes)
	}
	f.wantRules(Ignore, "*-preview", "gpt-3.5*")
	result(t, s, "hide o1")
	f.must(s.Edit("Delete a rule", func() error { return f.Remove(Ignore, "gpt-3.5*") }))
	if got := result(t, s, "undo that"); got.Success || !strings.Contains(got.Message, "not made by the assistant of this session") {
		t.Errorf("undo of the user's step = %+v", got)
	}
	f.wantRules(Ignore, "*-preview", "o1")
}

// A save is not a step, even if the user looks at another provider since the last one; rules that others saved are one.
func TestASaveRecordsOnlyWhatOthersSaved(t *testing.T) {
	f := fresh(t, plainEnv)
	s := scripted(t, f, assistanttest.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"o1"}`})
	result(t, s, "hide o1")
	save := func() {
		t.Helper()
		plan, err := s.PlanSave(t.Context(), "")
		f.must(err)
		_, err = s.Save(t.Context(), assistant.Basis{Digest: plan.Digest})
		f.must(err)
	}
	f.must(f.SetProvider("gemini"))
	steps := s.Checkpoints()
	save()
	if now := s.Checkpoints(); len(now) != len(steps) {
		t.Errorf("a save is a step: %+v", now[len(steps):])
	}
	f.must(s.Edit("Add a rule", func() error { _, err := f.Add(Ignore, "mine*"); return err }))
	f.write(strings.Replace(f.file(), "gpt-3.5*", "gpt-3.5*,theirs*", 1))
	steps = s.Checkpoints()
	save()
	if now := s.Checkpoints(); len(now) != len(steps)+1 || now[len(steps)].Description != "Load what other programs saved" {
		t.Errorf("rules that others saved are not a step: %+v", now[len(steps):])
	}
}
