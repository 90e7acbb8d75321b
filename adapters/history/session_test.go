package history

import (
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/offline"
	"winnow/assistant/openai"
	"winnow/checkpoint"
)

// chatSession is a session in the window, over a store with six pairs.
type chatSession struct {
	*assistant.Session
	store   history.Store
	window  *Window
	journal string
}

// startChatSession begins a session whose model is m.
func startChatSession(t *testing.T, m llm.Model) *chatSession {
	t.Helper()
	d := &chatSession{journal: filepath.Join(t.TempDir(), "journal", "history.journal")}
	d.store, _ = library(t)
	d.window = New(d.store, Options{Now: clock, Selected: func() Selected { return Selected{Line: "x", Session: "s9"} }})
	var pages assistant.Pages
	if err := Register(&pages, d.window); err != nil {
		t.Fatal(err)
	}
	journal, err := checkpoint.Open(d.journal, checkpoint.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { journal.Close() })
	var models llm.Registry
	info := llm.ModelInfo{ID: "test/rules", Context: 128_000, Known: true} // the name of the offline model
	if err := models.Add(llm.Provider{Name: "test", Model: m, Known: []llm.ModelInfo{info}}); err != nil {
		t.Fatal(err)
	}
	d.Session, err = assistant.NewSession(&models, assistant.Options{
		ID: "s9", Window: d.window, Pages: &pages, Store: d.store, Journal: journal, Model: info.ID, Topic: "AI", Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// say sends a message and returns the events of its turn.
func (d *chatSession) say(t *testing.T, text string) []assistant.Event {
	t.Helper()
	events, err := assistanttest.Send(t.Context(), d, assistant.Prompt{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	all := assistanttest.Events(t, events)
	if len(assistanttest.Only[assistant.Complete](all)) != 1 {
		t.Fatalf("the turn did not complete: %#v", all)
	}
	return all
}

func use(name, args string) assistanttest.Answer {
	return assistanttest.Answer{assistanttest.Call{Name: name, Arguments: args}}
}

func TestTheAssistantStarsAndARollbackRestores(t *testing.T) {
	script := assistanttest.NewScript(
		use("search_pairs", `{"query":"kubernetes"}`), use("star_pairs", `{"line":"c'kubernetes' | c'thanks'","stars":3}`),
		assistanttest.Answer{assistanttest.Say("Three stars for three pairs.")},
		use("set_topic", `{"ids":[7,5],"topic":"Kept","create":true}`), use("set_topic", `{"line":"t'AI...'","topic":"KI","create":true}`),
		use("flag_pairs", `{"ids":[1],"flag":false}`),
		assistanttest.Answer{assistanttest.Say("Ordered.")},
	)
	d := startChatSession(t, script)
	before, text := stateOf(t, d.window), marksOf(t, d.store)
	events := d.say(t, "star what is about kubernetes, and the thanks")
	made := assistanttest.Only[assistant.CheckpointCreated](events)
	if len(made) != 1 {
		t.Fatalf("%d checkpoints", len(made))
	}
	if got := marksOf(t, d.store); !strings.Contains(got, "2:3+") || !strings.Contains(got, "4:3+Work 5:3+ ") {
		t.Fatalf("after the turn %s", got)
	}
	starred := stateOf(t, d.window)
	second := assistanttest.Only[assistant.CheckpointCreated](d.say(t, "now order them"))
	ordered := marksOf(t, d.store)
	want := "1:0-KI 2:3+KI 3:0+KI 4:3+Work 5:3+Kept 6:0+ 7:0+Kept 8:0+AI "
	if ordered != want {
		t.Fatalf("after the second turn %s\nwant %s", ordered, want)
	}
	orderedState := stateOf(t, d.window)

	// To before the second turn: its pair is cut, the first turn's marks stay.
	typed, err := d.Rollback(t.Context(), second[0].ID, checkpoint.ScopeBoth, newest(d.Session))
	if err != nil || typed != "now order them" {
		t.Fatalf("Rollback = %q, %v", typed, err)
	}
	if got := stateOf(t, d.window); got != starred {
		t.Errorf("rolled back to %s\nwant %s", got, starred)
	}
	if err := undoRollback(t, d.Session); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, d.window); got != orderedState || marksOf(t, d.store) != ordered {
		t.Errorf("undone to %s\nwant %s", got, orderedState)
	}

	// Both turns, to the start of the session.
	if _, err := d.Rollback(t.Context(), d.Checkpoints()[0].ID, checkpoint.ScopeBoth, newest(d.Session)); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, d.window); got != before {
		t.Errorf("rolled back to %s\nwant %s", got, before)
	}
	if got := marksOf(t, d.store); got != text {
		t.Errorf("the store has %s\nwant %s", got, text)
	}
}

func TestARollbackOfTheRulesAloneLeavesThePairs(t *testing.T) {
	script := assistanttest.NewScript(
		assistanttest.Answer{assistanttest.Say("Hello.")},
		use("star_pairs", `{"line":"b","stars":3}`), use("set_topic", `{"line":"t'Talk'","topic":"Chat","create":true}`),
		assistanttest.Answer{assistanttest.Say("All.")},
	)
	d := startChatSession(t, script)
	d.SetTopic("Talk")
	text := marksOf(t, d.store)
	d.say(t, "hello") // 7: newer than the start, in a topic the start does not know
	d.say(t, "star all")
	if _, err := d.Rollback(t.Context(), d.Checkpoints()[0].ID, checkpoint.ScopeWindow, newest(d.Session)); err != nil {
		t.Fatal(err)
	}
	if got, want := marksOf(t, d.store), text+"7:0+Talk 8:0+Talk "; got != want {
		t.Errorf("rolled back to %s\nwant %s", got, want)
	}
	if err := undoRollback(t, d.Session); err != nil {
		t.Fatal(err)
	}
	if got := marksOf(t, d.store); !strings.Contains(got, "1:3+AI ") || !strings.Contains(got, "7:3+Chat ") {
		t.Errorf("undone to %s", got)
	}
}

func TestARollbackSurvivesARestart(t *testing.T) {
	script := assistanttest.NewScript(
		use("star_pairs", `{"ids":[1,2,3],"stars":3}`), use("set_topic", `{"line":"t'AI...'","topic":""}`), assistanttest.Answer{assistanttest.Say("Done.")})
	d := startChatSession(t, script)
	before := marksOf(t, d.store)
	d.say(t, "star the first three")
	d.window = New(d.store, Options{Now: clock}) // a new process knows the state from the journal only
	j, err := checkpoint.Open(d.journal, checkpoint.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	state, err := j.State(j.List("s9")[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.window.Apply(state); err != nil {
		t.Fatal(err)
	}
	if got, want := marksOf(t, d.store), before+"7:0+AI "; got != want { // its own pair is newer than the state: it stays as the turn left it
		t.Errorf("restored to %s\nwant %s", got, want)
	}
}

func TestTheModelIsToldOfTheWindow(t *testing.T) {
	script := assistanttest.NewScript(assistanttest.Answer{assistanttest.Say("Hm.")})
	d := startChatSession(t, script)
	d.say(t, "hello")
	if _, err := d.store.Mark(t.Context(), []int64{1, 2}, mark{stars, "2"}.storeMark()); err != nil {
		t.Fatal(err)
	}
	d.say(t, "and now")
	asked := script.Requests()
	first, second := asked[0].Messages[0].Content, asked[1].Messages[0].Content
	for _, want := range []string{
		"You work in the chat history", `"window_type":"history"`, `"changes_since_last_message":[]`,
		`The user is looking at the pairs selected by the filter line "x".`,
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the system prompt lacks %s:\n%s", want, first)
		}
	}
	_, changes, _ := strings.Cut(second, `"changes_since_last_message":[`)
	if want := `{"count":2,"ids":"1-2","stars":"2","timestamp":"2026-03-05T05:00:00Z","type":"pairs_marked"}]`; !strings.HasPrefix(changes, want) {
		t.Errorf("the model is told of the changes %s\nwant %s", changes, want)
	}
	if d.window.Locked() {
		t.Error("the window is still locked")
	}
}

func TestAManualEditIsAStep(t *testing.T) {
	d := startChatSession(t, assistanttest.NewScript())
	before := stateOf(t, d.window)
	err := d.Edit("star 1 message", func() error {
		_, err := d.store.Mark(t.Context(), []int64{1}, mark{stars, "3"}.storeMark())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	step, ok := d.LastStep()
	if !ok {
		t.Fatal("nothing to undo")
	}
	if _, err := d.Rollback(t.Context(), step.ID, checkpoint.ScopeWindow, newest(d.Session)); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, d.window); got != before {
		t.Errorf("undone to %s\nwant %s", got, before)
	}
}

func TestManyPairsAskInASession(t *testing.T) {
	script := assistanttest.NewScript(
		use("star_pairs", `{"line":"t'Many'","stars":1}`), assistanttest.Answer{assistanttest.Say("As you like.")})
	d := startChatSession(t, script)
	for range 51 {
		put(t, d.store, spoken("s3", "Many", "one of many", "ok"))
	}
	before := marksOf(t, d.store)
	events, err := assistanttest.Send(t.Context(), d, assistant.Prompt{Text: "star them all"})
	if err != nil {
		t.Fatal(err)
	}
	_, ask := assistanttest.Until[assistant.ConfirmRequest](t, events)
	if !strings.HasPrefix(string(ask.Diff), "51 messages will have 1 star:") {
		t.Errorf("the user is asked %q", ask.Diff)
	}
	if err := d.Answer(ask.ID, false); err != nil {
		t.Fatal(err)
	}
	rest := assistanttest.Events(t, events)
	if got := assistanttest.Only[assistant.ToolComplete](rest); len(got) != 1 || got[0].ErrorCode != assistant.CodeDeclined {
		t.Errorf("the tool ended as %+v", got)
	}
	if got := marksOf(t, d.store); !strings.HasPrefix(got, before) {
		t.Errorf("a declined call changed %s", got)
	}
}

func TestTheOfflineModelFindsAndCallsTools(t *testing.T) {
	client, err := openai.New(openai.Options{BaseURL: offline.BaseURL, HTTP: offline.Client(0)})
	if err != nil {
		t.Fatal(err)
	}
	d := startChatSession(t, client)
	events := d.say(t, "find kubernetes")
	calls := assistanttest.Only[assistant.ToolStart](events)
	if len(calls) != 1 || calls[0].Tool != "search_pairs" {
		t.Fatalf("calls %+v", calls)
	}
	if said := assistanttest.EventText(events); !strings.Contains(said, "2 messages match") || !strings.Contains(said, "fourth: an invoice") {
		t.Errorf("the model said %q", said)
	}
	for _, step := range []struct{ say, said, marks string }{
		{"star_pairs ids=[2] stars=1", "1 message now has 1 star", "2:1+AI > Agents "},
		{"flag_pairs ids=[1] flag=false", "1 message now has no flag", "1:0-AI "},
		{"undo", "no rules for this window", "1:0-AI "},
		{"summarise_pairs line=\"t'AI...'\"", "messages", ""},
		{"list the topics", "topics", ""},
	} {
		if said := assistanttest.EventText(d.say(t, step.say)); !strings.Contains(said, step.said) {
			t.Errorf("to %q the model said %q", step.say, said)
		}
		if got := marksOf(t, d.store); !strings.Contains(got, step.marks) {
			t.Errorf("after %q the marks are %s, want %s", step.say, got, step.marks)
		}
	}
}

// newest is the basis of a rollback as the session sees it now.
func newest(s *assistant.Session) string {
	step, _ := s.LastStep()
	return step.ID
}

func undoRollback(t *testing.T, s *assistant.Session) error {
	t.Helper()
	plan, err := s.PlanUndoRollback()
	if err != nil {
		return err
	}
	return s.UndoRollback(t.Context(), plan.Digest)
}
