package tui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/serve"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// team is a hub over the model filter of a file, with a screen for each user.
type team struct {
	*serve.Hub
	t      testing.TB
	window *modelfilter.Window
	store  history.Store
	script *at.Script
	clock  *tuitest.Clock
	file   string

	answerWait time.Duration             // of every screen; 0 is the usual one
	watch      func(tea.Model) tea.Model // what runs instead of a screen, around it; nil: nothing does
}

// member is a user of a team at a screen.
type member struct {
	*tuitest.Screen
	t       testing.TB
	clock   *tuitest.Clock
	session *serve.Session
}

func newTeam(t *testing.T, answers ...at.Answer) *team {
	t.Helper()
	return newTeamOver(t, testModels, answers...)
}

func newTeamOver(t testing.TB, models []string, answers ...at.Answer) *team {
	t.Helper()
	return newTeamWaiting(t, models, 0, answers...)
}

// newTeamWaiting is newTeamOver with the time that a change waits for the turn of another user.
func newTeamWaiting(t testing.TB, models []string, wait time.Duration, answers ...at.Answer) *team {
	t.Helper()
	g := &team{t: t, script: at.NewScript(answers...), clock: tuitest.NewClock()}
	dir := t.TempDir()
	g.file = filepath.Join(dir, ".env")
	g.must(os.WriteFile(g.file, []byte(testEnv), 0o600))
	var err error
	g.window, err = modelfilter.Open(t.Context(), modelfilter.Options{
		EnvFile: g.file, Environ: func() []string { return nil }, Models: shelf{models}, Now: g.clock.Now,
	})
	g.must(err)
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: g.clock.Now, Author: func() (user, session string) {
		if g.Hub == nil {
			return "", ""
		}
		return g.Author()
	}})
	g.must(err)
	g.store, err = sqlite.Open(t.Context(), filepath.Join(dir, "data", "history.db"), sqlite.Options{Now: g.clock.Now})
	g.must(err)
	registry, pages := &llm.Registry{}, &assistant.Pages{}
	g.must(modelfilter.Register(pages, g.window))
	g.must(registry.Add(llm.Provider{Name: "test", Model: g.script, Known: []llm.ModelInfo{{ID: "test/script", Context: 64_000, Known: true, Tools: true}}}))
	g.Hub = serve.NewHub(serve.Options{
		Registry: registry, History: g.store, Folder: dir, Window: "rules", Wait: wait,
		Session: assistant.Options{Window: g.window, Pages: pages, Journal: journal, Model: "test/script", Now: g.clock.Now},
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(g.Close(ctx), g.store.Close(), journal.Close()); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *team) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// join opens a session of a user on a screen of w×h cells.
func (g *team) join(user string, w, h int) *member {
	g.t.Helper()
	s, err := g.Open(g.t.Context(), serve.Join{User: user})
	g.must(err)
	model, err := New(Options{
		Context: g.t.Context(),
		Parts: Parts{
			Source: usecase.Source{Work: s.Workspace, Served: s, History: g.store, AnswerWait: g.answerWait}, Pane: rules.New(rules.Options{Home: filepath.Dir(g.file)}),
			Examples: []string{"first example"},
		},
		Now: g.clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}},
		Clipboard: func(string) error { return nil },
	})
	g.must(err)
	var screen tea.Model = model
	if g.watch != nil {
		screen = g.watch(model)
	}
	m := &member{Screen: tuitest.Start(g.t, screen, w, h, tuitest.Options{Clock: g.clock}), t: g.t, clock: g.clock, session: s}
	m.in("INPUT")
	m.WaitGone("loading…")
	return m
}

func (m *member) in(mode string) {
	m.t.Helper()
	m.Until(func(frame string) bool { return strings.HasPrefix(footerOf(frame), " "+mode+" ") })
}

func (m *member) says(text string) {
	m.t.Helper()
	m.Until(func(frame string) bool { return strings.Contains(footerOf(frame), text) })
}

// pane goes from INPUT to the pane.
func (m *member) pane() {
	m.t.Helper()
	m.Type(tuitest.ShiftTab)
	m.in("PANE")
}

// hide adds an ignore rule in the pane.
func (m *member) hide(pattern string) {
	m.t.Helper()
	m.Type("h", pattern, tuitest.Enter)
	m.says("added ignore rule")
}

// confirm answers a question that the screen shows.
func (m *member) confirm(question string, key tuitest.Key) {
	m.t.Helper()
	m.Wait(question)
	m.clock.Advance(overlayGuard)
	m.Type(key)
	m.WaitGone(question)
}

func (m *member) save() {
	m.t.Helper()
	m.Type(tuitest.CtrlS)
	m.confirm("Save these changes?", "y")
}

// header is the first line of a frame.
func header(frame string) string {
	head, _, _ := strings.Cut(frame, "\n")
	return head
}

// working makes the turn of m, whose answers add a rule and wait at a gate, have the window.
func (m *member) working(gate *at.Gate) {
	m.t.Helper()
	m.Type("hide the minis", tuitest.Send)
	gate.Wait(m.t)
}

// holding are answers of a turn that adds an ignore rule and then waits at the gate.
func holding(gate *at.Gate) []at.Answer {
	return []at.Answer{
		{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"*mini*"}`}},
		{at.Say("Hidden."), at.Stop{At: gate}, at.Say(" Done.")},
	}
}

func TestWhoHasTheWindowIsShown(t *testing.T) {
	gate := at.NewGate()
	g := newTeam(t, holding(gate)...)
	anna, bert := g.join("anna", 120, 32), g.join("bert", 120, 32)
	anna.Until(func(f string) bool { return strings.Contains(header(f), "1 other") })
	anna.working(gate)
	bert.Until(func(f string) bool {
		return strings.Contains(header(f), "anna's assistant is working") && strings.Count(f, "anna's assistant is working") >= 3 // and in conversation and pane
	})
	bert.says("anna's assistant hid *mini* on openai (1 model)")
	bert.Wait("*mini*")
	anna.Until(func(f string) bool { return !strings.Contains(f, "anna's assistant") })

	bert.pane()
	bert.Type("h", "o4*") // refused by nobody: it waits
	bert.Until(func(f string) bool { return strings.Contains(f, "o4*") && strings.Contains(f, "enter adds it") })
	bert.Type(tuitest.Enter)
	bert.WaitGone("enter adds it")

	gate.Open()
	bert.says("added ignore rule")
	anna.Until(func(f string) bool {
		return strings.Contains(f, "Hidden. Done.") && !strings.Contains(header(f), "working")
	})
	bert.Until(func(f string) bool {
		return !strings.Contains(header(f), "working") && !strings.Contains(f, "■ anna")
	})
	bert.save()
	anna.says("bert saved the rules")
	anna.Until(func(f string) bool {
		return strings.Contains(header(f), "saved") && !strings.Contains(header(f), "unsaved")
	})
}

// A change waits for the turn of another user only for a while; then the screen says who is working.
func TestAChangeIsRefusedAfterItsWait(t *testing.T) {
	gate := at.NewGate()
	g := newTeamWaiting(t, testModels, time.Millisecond, holding(gate)...)
	anna, bert := g.join("anna", 120, 32), g.join("bert", 120, 32)
	anna.working(gate)
	bert.Wait("*mini*")
	refused := func() {
		t.Helper()
		bert.says("anna's assistant is working")
		bert.Type(tuitest.Space) // ends the notice
		bert.Until(func(f string) bool { return !strings.Contains(footerOf(f), "is working") })
	}
	bert.pane()
	bert.Type("h", "o4*", tuitest.Enter)
	refused()
	bert.Type("D")
	bert.confirm("Discard", "y")
	refused()
	bert.save()
	refused()
	gate.Open()
	anna.Wait("Hidden. Done.")
	bert.WaitGone("is working") // the last text arrives before the turn has ended
	bert.hide("o4*")
}

// A message that wants to write while somebody else's turn does waits, and says for whom.
func TestAMessageWaitsForTheTurnOfSomebodyElse(t *testing.T) {
	gate := at.NewGate()
	g := newTeam(t, append(holding(gate),
		at.Answer{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"o4*"}`}}, at.Answer{at.Say("Both.")})...)
	anna, bert := g.join("anna", 120, 32), g.join("bert", 120, 32)
	anna.working(gate)
	bert.Wait("anna's assistant is working")
	bert.Type("hide o4", tuitest.Send)
	bert.Wait("anna's assistant is working · esc cancels")
	gate.Open()
	bert.Wait("Both.")
	anna.says("bert's assistant")
}

func TestAChangeLeavesTheCursorOfTheOthers(t *testing.T) {
	g := newTeam(t)
	anna, bert := g.join("anna", 120, 32), g.join("bert", 120, 32)
	anna.pane()
	bert.pane()
	bert.Type("G") // on the last rule
	var before string
	bert.Until(func(f string) bool {
		before = cursorRow(f)
		return strings.Contains(f, "│ ›  ▌■ o3*") && before != ""
	})
	anna.hide("gpt-4*")
	bert.says("anna hid gpt-4* on openai (2 models)")
	bert.Until(func(f string) bool { return strings.Contains(f, "gpt-4*") && cursorRow(f) == before })
	bert.Type("x")
	bert.says("deleted ignore rule “o3*”")
	anna.says("bert stopped hiding o3* on openai (1 model shown)")
}

// cursorRow is the row of the pane that has the cursor.
func cursorRow(frame string) string {
	for _, line := range strings.Split(frame, "\n") {
		if _, row, ok := strings.Cut(line, "│ › "); ok {
			return strings.TrimLeft(row, " ▌")
		}
	}
	return ""
}

// A proposal without a provider is for the provider that was current when the message was sent, although another user
// has chosen another one meanwhile, or for the one to which the turn itself has switched.
func TestAProposalIsForTheProviderOfItsMessage(t *testing.T) {
	const proposal = ` RULE_PROPOSAL: {"add_ignore":["*-new"],"reasoning":"r"}`
	gate := at.NewGate()
	g := newTeam(t, at.Answer{at.Say("I propose this."), at.Stop{At: gate}, at.Say(proposal)},
		at.Answer{at.Call{Name: "switch_provider", Arguments: `{"provider":"openai"}`}}, at.Answer{at.Say("And this." + proposal)})
	s, err := g.Open(t.Context(), serve.Join{User: "anna"})
	g.must(err)
	ask := func(text string, meanwhile func()) string {
		t.Helper()
		after, err := s.Begin(t.Context(), assistant.Prompt{Text: text})
		g.must(err)
		meanwhile()
		for range s.Events(t.Context(), after) {
		}
		refs := s.Session().Visible()
		pairs, err := s.Session().Pairs(t.Context(), []int64{refs[len(refs)-1].Seq})
		g.must(err)
		return fmt.Sprint(pairs[0].Payloads)
	}
	if got := ask("propose", func() { gate.Wait(t); g.must(g.window.SetProvider("anthropic")); gate.Open() }); !strings.Contains(got, "for openai") {
		t.Errorf("the proposal is %s", got)
	}
	if got := ask("switch and propose", func() {}); !strings.Contains(got, "for openai") {
		t.Errorf("after a switch the proposal is %s", got)
	}
}

// A question that nobody answers does not keep the window from the others for ever.
func TestAQuestionWithoutAnAnswerIsDeclined(t *testing.T) {
	g := newTeam(t, at.Answer{at.Call{Name: "save_changes", Arguments: `{}`}}, at.Answer{at.Say("Not saved, then.")})
	g.answerWait = 50 * time.Millisecond
	anna := g.join("anna", 120, 32)
	anna.pane()
	anna.hide("gpt-4*")
	anna.Type(tuitest.Tab)
	anna.in("INPUT")
	anna.Type("save it", tuitest.Send)
	anna.Wait("Not saved, then.")
	anna.WaitGone("The assistant asks")
	if saved, err := os.ReadFile(g.file); err != nil || strings.Contains(string(saved), "gpt-4*") {
		t.Errorf("the file says %q, %v", saved, err)
	}
}

// Such a question goes and leaves the list that was opened above it meanwhile.
func TestAQuestionBelowAListIsDeclined(t *testing.T) {
	g := newTeam(t, at.Answer{at.Call{Name: "save_changes", Arguments: `{}`}}, at.Answer{at.Say("Not saved, then.")})
	anna := g.join("anna", 120, 32)
	anna.pane()
	anna.hide("gpt-4*")
	anna.Type(tuitest.Tab)
	anna.in("INPUT")
	anna.Type("save it", tuitest.Send)
	anna.Wait("The assistant wants to save")
	due := answerDueMsg{wait: time.Minute}
	anna.Look(func(m tea.Model) {
		due.question, _, _ = m.(*Model).overlay.Top()
		due.id = m.(*Model).parts.Turn.Asks.ID
	})
	anna.Message(usecase.SessionsListed{Reply: usecase.Reply{Request: 99}, Sessions: []history.Session{{ID: "s1", Folder: g.file, Title: "an old session"}}})
	anna.Wait("an old session")
	anna.Message(due)
	anna.Look(func(m tea.Model) {
		if _, asks := m.(*Model).overlay.Find(overlay.Confirm); asks {
			t.Error("the declined question is still open")
		}
	})
	anna.Wait("Not saved, then.")
	anna.Wait("an old session")
	anna.Type(tuitest.Esc)
	anna.WaitGone("an old session")
	anna.in("INPUT")
}

func TestARollbackAsksAboutWhatOthersDid(t *testing.T) {
	g := newTeam(t, at.Answer{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"*mini*"}`}}, at.Answer{at.Say("Hidden.")}, at.Answer{at.Say("Good day.")})
	anna, bert := g.join("anna", 120, 32), g.join("bert", 120, 32)
	anna.Type("hide the minis", tuitest.Send)
	anna.Wait("Hidden.")
	bert.Type("hello", tuitest.Send)
	bert.Wait("Good day.")
	bert.Until(func(f string) bool {
		return !strings.Contains(header(f), "working") && idle(bert.Screen, bert.session.Session())
	})
	bert.pane()
	bert.hide("gpt-4*")
	anna.says("bert hid")
	before := g.rules()
	for _, answer := range []tuitest.Key{"n", "y"} {
		anna.Type(tuitest.Key("ctrl+g"))
		anna.Wait("Checkpoints")
		anna.Type(tuitest.Down, tuitest.Down, tuitest.Enter)
		anna.Wait("bert: hid gpt-4* on openai")
		anna.confirm("Undo others' changes as well?", answer)
		if answer == "n" {
			anna.says("nothing was changed")
			if got := g.rules(); got != before {
				t.Errorf("declined, the rules are %q, and were %q", got, before)
			}
		}
	}
	anna.says("rolled back")
	anna.Until(func(f string) bool {
		return !strings.Contains(f, "hide the minis  ") && !strings.Contains(f, "Hidden.")
	})
	bert.says("anna rolled back · stopped hiding *mini*, gpt-4* on openai (3 models shown)")
	bert.Until(func(f string) bool {
		return strings.Contains(f, "hello") && strings.Contains(f, "Good day.") && !strings.Contains(f, "gpt-4*  ") // the row of the rule
	})
	if got := g.rules(); strings.Contains(got, "mini") || strings.Contains(got, "gpt-4") {
		t.Errorf("the rules are %q", got)
	}
}

// Undoing a rollback would lose what others did since, and undo what others rolled back.
func TestUndoingARollbackAsksAboutWhatOthersDid(t *testing.T) {
	g := newTeam(t)
	anna, bert := g.join("anna", 120, 32), g.join("bert", 120, 32)
	anna.pane()
	anna.hide("gpt-5*")
	anna.Type(tuitest.Key("ctrl+z"))
	anna.says("undid “hid gpt-5*")
	bert.pane()
	bert.hide("gpt-4*")
	anna.says("bert hid")
	undo := func(m *member, answer tuitest.Key) {
		m.Type(tuitest.CtrlP, "undo the last roll", tuitest.Enter)
		m.confirm("Undo the rollback?", answer)
	}
	undo(anna, "n")
	anna.says("nothing was changed")
	if got := g.rules(); !strings.Contains(got, "gpt-4*") {
		t.Errorf("declined, the rules are %q", got)
	}
	undo(anna, "y")
	anna.says("the rollback was undone")
	if got := g.rules(); !strings.Contains(got, "gpt-5*") || strings.Contains(got, "gpt-4*") {
		t.Errorf("undone, the rules are %q", got)
	}
	bert.Type(tuitest.Key("ctrl+z"))
	bert.confirm("Undo others' changes as well?", "y")
	bert.says("undid")
	anna.says("bert rolled back")
	anna.Type(tuitest.CtrlP, "undo the last roll", tuitest.Enter)
	anna.Wait("The last rollback was made by bert.")
	anna.confirm("Undo the rollback?", "y")
	anna.says("the rollback was undone")
}

// rules are the patterns of the window.
func (g *team) rules() string {
	var out []string
	for _, list := range []modelfilter.List{modelfilter.Ignore, modelfilter.Allow} {
		for _, r := range g.window.Rules(list) {
			out = append(out, r.Pattern)
		}
	}
	return strings.Join(out, " ")
}

// After random edits of both, by hand and undone, the panes show the same rules, and what
// the window has.
func TestThePanesAgreeAfterRandomEdits(t *testing.T) {
	g := newTeam(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	all := []*member{g.join("anna", 100, 40), g.join("bert", 100, 40), g.join("cleo", 100, 40)}
	for _, m := range all {
		m.pane()
	}
	patterns := []string{"gpt-4*", "o1*", "o4*", "claude*", "gpt-5*", "llama*"} // none covers another
	has := func(pattern string) bool {
		return slices.ContainsFunc(g.window.Rules(modelfilter.Ignore), func(rule modelfilter.RuleView) bool { return rule.Pattern == pattern })
	}
	for range 60 {
		m, pattern := all[r.IntN(len(all))], patterns[r.IntN(len(patterns))]
		before := len(g.window.Rules(modelfilter.Ignore))
		if has(pattern) {
			m.Type("G", "x")
			m.Until(func(string) bool { return len(g.window.Rules(modelfilter.Ignore)) < before })
		} else {
			m.Type("h", pattern, tuitest.Enter)
			m.Until(func(string) bool { return has(pattern) })
		}
		g.agree(all)
	}
}

func (g *team) agree(all []*member) {
	g.t.Helper()
	for _, m := range all {
		m.Until(func(f string) bool {
			fresh := rules.New(rules.Options{}) // what was typed last may still be on its way
			snapshot, _ := g.window.Snapshot()
			fresh.Show(pane.State{Window: snapshot})
			fresh.SetStyles(style.New(style.Options{Dark: true, Unicode: true}))
			return listed(f) == listed(ansi.Strip(strings.Join(fresh.Lines(40, 30), "\n")))
		})
	}
}

// listed are the rules that a pane lists, without cursor and numbers.
func listed(frame string) string {
	var out []string
	for _, line := range strings.Split(frame, "\n") {
		if found := ruleRow.FindStringSubmatch(line); found != nil {
			out = append(out, found[1])
		}
	}
	return strings.Join(out, " ")
}

// ruleRow is a rule in the pane: its sign and its pattern.
var ruleRow = regexp.MustCompile(`▌\S (\S+) `)

// Small screens show who has the window as well, and the question of a rollback whole.
func TestFramesOfASharedWindow(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			gate := at.NewGate()
			g := newTeam(t, append(holding(gate), at.Answer{at.Say("Good day.")})...)
			anna, bert := g.join("anna", size[0], size[1]), g.join("bert", 80, 24)
			bert.pane()
			bert.hide("gpt-4*")
			anna.says("bert hid gpt-4*")
			if anna.Wait("alt+1  which models of openai"); size[0] > 40 {
				anna.Wait("alt+3  hide every mini") // the welcome follows
			}
			anna.golden("served-change-" + name)
			bert.Type(tuitest.ShiftTab, tuitest.ShiftTab)
			bert.in("INPUT")
			bert.working(gate)
			anna.Wait("bert's assistant is working")
			anna.says("bert's assistant ")
			if size[0] > 40 {
				anna.Wait("alt+3  find redundant")
			}
			anna.golden("served-held-" + name)
			gate.Open()
			anna.WaitGone("assistant is working")
			anna.Type(tuitest.Tab)
			anna.Type(tuitest.CtrlZ)
			anna.Wait("bert: hid *mini* on openai (1")
			anna.golden("served-rollback-" + name)
		})
	}
}

func (m *member) golden(name string) {
	m.t.Helper()
	tuitest.Golden(m.t, name, m.Frame())
}
