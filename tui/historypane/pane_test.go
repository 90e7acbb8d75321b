package historypane

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	historywindow "winnow/adapters/history"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// rig is a pane over a history of six pairs.
type rig struct {
	t       *testing.T
	pane    *Pane
	window  *historywindow.Window
	store   history.Store
	session *assistant.Session
	journal *checkpoint.Journal
}

// then is when everything happens.
var then = time.Date(2026, 3, 4, 14, 32, 0, 0, time.Local)

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	dir := t.TempDir()
	var err error
	clock := func() time.Time { return then }
	r.store, err = sqlite.Open(t.Context(), filepath.Join(dir, "data", "history.db"), sqlite.Options{Now: clock})
	r.must(err)
	t.Cleanup(func() { _ = r.store.Close() })
	r.journal, err = checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: clock})
	r.must(err)
	t.Cleanup(func() { _ = r.journal.Close() })
	for _, topic := range []string{"", "AI", "AI > Agents", "AI > Agents", "It's * here", "AI > Agents > Old"} {
		r.add(topic)
	}
	r.must(r.store.SaveFilter(t.Context(), "good", "s>1"))
	r.session, err = assistant.NewSession(&llm.Registry{}, assistant.Options{
		ID: "s", Window: at.NewWindow(), Store: r.store, Journal: r.journal, Now: clock,
	})
	r.must(err)
	r.must(r.session.Start(t.Context()))
	r.window = historywindow.New(r.store, historywindow.Options{Now: clock})
	r.pane = New()
	r.pane.SetStyles(style.New(style.Options{Unicode: true}))
	r.pane.SetKeys(tuitest.PaneKey)
	r.pane.SetFocus(true)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) add(topic string) {
	r.t.Helper()
	p := &assistant.Pair{Session: "old", Topic: topic, UserText: safetext.Text("about " + topic), State: assistant.PairComplete, CreatedAt: then}
	r.must(r.store.Commit(r.t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
}

// show shows what is published.
func (r *rig) show() {
	snapshot, _ := r.window.Snapshot()
	steps := r.session.Checkpoints()
	slices.Reverse(steps)
	r.pane.Show(pane.State{Window: snapshot, Topic: r.session.Topic(), Checkpoints: steps})
}

// settle gives the pane what it wants, and shows what is published then. It says how often
// a snapshot was made.
func (r *rig) settle() (made int64) {
	r.t.Helper()
	before := r.window.Revision()
	for range 5 {
		e, wants := r.pane.Wants()
		if !wants {
			r.show()
			return r.window.Revision() - before
		}
		_, err := r.window.Act(r.t.Context(), e.Act, e.Revision)
		r.must(err)
	}
	r.t.Fatal("the pane is never content")
	return 0
}

// do carries out actions, and returns the last action.
func (r *rig) do(actions ...keymap.Action) (w pane.Action) {
	for _, a := range actions {
		w = r.pane.Do(a)
	}
	return w
}

func (r *rig) frame() string { return strings.Join(r.pane.Lines(44, 16), "\n") }

func TestThePaneIsReadWhenItIsOld(t *testing.T) {
	r := newRig(t)
	if !strings.Contains(r.frame(), "counting") {
		t.Errorf("before it is read:\n%s", r.frame())
	}
	if n := r.settle(); n != 1 {
		t.Errorf("%d readings at first, want 1", n)
	}
	tuitest.Golden(t, "topics", r.frame())
	if n := r.settle(); n != 0 {
		t.Errorf("%d readings of what is not old", n)
	}
	r.pane.Changed()
	if n := r.settle(); n != 0 {
		t.Errorf("%d readings of a history that has not changed", n)
	}
	r.add("AI")
	r.pane.Changed()
	if n := r.settle(); n != 1 {
		t.Errorf("%d readings after a commit, want 1", n)
	}
	if all := r.pane.data.Topics[0]; all.Total != 5 || r.pane.data.Pairs != 7 {
		t.Errorf("after a commit: %+v of %d", all, r.pane.data.Pairs)
	}
	r.must(r.store.SaveFilter(t.Context(), "more", "s3"))
	r.pane.Changed()
	if r.settle(); len(r.pane.data.Filters) != 2 {
		t.Errorf("filters %v", r.pane.data.Filters)
	}
}

func TestAReadingThatFailsIsNotTriedForEver(t *testing.T) {
	r := newRig(t)
	r.settle()
	r.add("AI")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.window.Act(ended, historywindow.Read{}, 0); err == nil {
		t.Fatal("a reading that was ended before it began succeeds")
	}
	r.pane.Changed()
	if r.settle() != 0 {
		t.Error("what could not be read is read again though nothing has changed")
	}
	r.add("AI")
	r.pane.Changed()
	if r.settle(); r.pane.data.Pairs != 8 {
		t.Errorf("%d pairs", r.pane.data.Pairs)
	}
}

func TestEnterShowsThePairsOfARow(t *testing.T) {
	r := newRig(t)
	r.settle()
	want := map[string]int{"all messages": 6, "AI": 4, "Agents": 3, "Old": 1, "It's * here": 1, "no topic": 1}
	for range want {
		row, _ := r.pane.tabs.Lists[tabTopics].Current()
		name, number, _ := r.pane.rowTexts(row)
		name = strings.TrimPrefix(strings.TrimSpace(name), r.pane.st.Icons.Pending+" ")
		show, ok := r.do("pane-highlight").(pane.SetFilter)
		if !ok {
			t.Fatalf("enter on %s shows nothing", name)
		}
		q, err := filter.Parse(show.Line)
		r.must(err)
		n, err := r.store.Count(t.Context(), q, history.Env{})
		if err != nil || n != want[name] || number != strconv.Itoa(n) {
			t.Errorf("%s: the line %q leaves %d, %v; the row says %s, want %d", name, show.Line, n, err, number, want[name])
		}
		r.do("pane-down")
	}
	if show := r.do("next-tab", "pane-highlight"); show != (pane.SetFilter{Line: "@good"}) {
		t.Errorf("a saved filter: %v", show)
	}
	if show := r.do("delete-rule"); show != (pane.SetFilter{Line: ":forget good"}) {
		t.Errorf("x on a saved filter: %v", show)
	}
}

func TestSpaceSelectsTheTopicOfNewMessages(t *testing.T) {
	r := newRig(t)
	r.settle()
	if w, ok := r.do("pane-select").(pane.Notify); !ok || r.session.Topic() != "" {
		t.Errorf("all messages are no topic: %v, %q", w, r.session.Topic())
	}
	if topic := r.do("pane-down", "pane-down", "pane-select"); topic != (pane.SelectTopic{Path: "AI > Agents"}) {
		t.Errorf("space on a topic is %+v", topic)
	}
	r.session.SetTopic("AI > Agents")
	r.show()
	if r.session.Topic() != "AI > Agents" || !strings.Contains(r.frame(), "● Agents") {
		t.Errorf("new messages go to %q:\n%s", r.session.Topic(), r.frame())
	}
	if topic := r.do("pane-last", "pane-select"); topic != (pane.SelectTopic{}) {
		t.Errorf("space on no topic is %+v", topic)
	}
	r.session.SetTopic("")
	r.show()
	if r.session.Topic() != "" || !strings.Contains(r.frame(), "● no topic") {
		t.Errorf("new messages go to %q", r.session.Topic())
	}
}

func TestChangesOfTheSessionAreListed(t *testing.T) {
	r := newRig(t)
	r.settle()
	turn := func(tool, effect string, ok bool) {
		_, err := r.journal.Add(checkpoint.Checkpoint{Tools: []checkpoint.ToolSummary{{Name: tool}}}, []byte(`{"n":1}`))
		r.must(err)
		r.must(r.journal.Record([]byte(`{"n":2}`), []checkpoint.ToolSummary{{Name: tool, Effect: effect, OK: ok}}))
	}
	turn("star_pairs", "2 messages now have 3 stars", true)
	r.pane.Changed()
	r.settle()
	r.do("previous-tab")
	first := r.pane.cursorRowID(tabChanges)
	turn("set_topic", "there is no\x1b[2J pair 9", false)
	r.pane.Changed()
	r.settle()
	tuitest.Golden(t, "changes", r.frame())
	if r.pane.cursorRowID(tabChanges) != first {
		t.Error("the cursor left its row when another came before it")
	}
	if _, ok := r.do("pane-highlight").(pane.Notify); !ok {
		t.Error("enter on a change does not say how to go back")
	}
}

func TestFramesFitTheirPlace(t *testing.T) {
	r := newRig(t)
	r.add(strings.Repeat("long 名前 ", 30) + "> deep > deeper")
	r.settle()
	for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 9}, {4, 3}, {10, 5}, {20, 8}, {44, 16}, {120, 3}, {60, 40}} {
		for range tabCount {
			lines := r.pane.Lines(size[0], size[1])
			if len(lines) != size[1] {
				t.Errorf("%v: %d lines", size, len(lines))
			}
			for _, l := range lines {
				if w := ansi.StringWidth(l); w != size[0] {
					t.Errorf("%v: a line of %d cells: %q", size, w, l)
				}
			}
			r.do("next-tab", "pane-last")
		}
	}
}

func TestClicksOpenTabsAndRows(t *testing.T) {
	r := newRig(t)
	r.settle()
	r.frame()
	if w := r.pane.Click(5, 4); w != (pane.Nothing{}) || r.pane.cursorRowID(tabTopics) != "topic AI > Agents" {
		t.Errorf("a click on the third row: %v, %s", w, r.pane.cursorRowID(tabTopics))
	}
	if w, ok := r.pane.Click(5, 4).(pane.SetFilter); !ok || w.Line != "t'AI > Agents...'" {
		t.Errorf("a second one: %v", w)
	}
	r.pane.Click(14, 0)
	if r.pane.tabs.Open != tabFilters {
		t.Errorf("the tab is %d", r.pane.tabs.Open)
	}
	r.frame()
	for _, y := range []int{10, 14, 15, 99} {
		if w := r.pane.Click(3, y); w != (pane.Nothing{}) {
			t.Errorf("a click beside the rows, in line %d: %v", y, w)
		}
	}
}

func TestHintsSayWhatARowIsGoodFor(t *testing.T) {
	r := newRig(t)
	r.settle()
	ids := func() (out []string) {
		for _, h := range r.pane.Hints() {
			out = append(out, h.Key)
		}
		return out
	}
	for _, step := range []struct {
		action keymap.Action
		want   string
	}{
		{"pane-first", "enter"}, {"pane-down", "space"}, {"next-tab", "x"}, {"next-tab", "ctrl+g"},
	} {
		if r.do(step.action); !slices.Contains(ids(), step.want) {
			t.Errorf("after %s the keys are %q, without %s", step.action, ids(), step.want)
		}
	}
	if _, ok := r.do("add-ignore").(pane.Notify); !ok {
		t.Error("an action of the model filter says nothing here")
	}
}
