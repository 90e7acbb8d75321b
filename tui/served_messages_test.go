package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/windowlock"
	"winnow/tui/usecase"
)

// tallied is a screen that counts what comes to it and what it draws.
type tallied struct {
	tea.Model
	mu       sync.Mutex
	messages []string // their types
	frames   int      // that differ from the one before
	last     string
}

func (c *tallied) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	c.mu.Lock()
	c.messages = append(c.messages, fmt.Sprintf("%T", msg))
	c.mu.Unlock()
	_, cmd := c.Model.Update(msg)
	return c, cmd
}

func (c *tallied) View() tea.View {
	v := c.Model.View()
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.Content != c.last {
		c.frames, c.last = c.frames+1, v.Content
	}
	return v
}

// restart returns what was counted, and counts from 0.
func (c *tallied) restart() (messages []string, frames int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	messages, frames = c.messages, c.frames
	c.messages, c.frames = nil, 0
	return messages, frames
}

// An act of one user comes to the screen of every other as one message, with the change, its
// checkpoint and who did it, and is one frame.
func TestAnActOfAnotherUserIsOneMessageAndOneFrame(t *testing.T) {
	const screens, edits = 8, 6
	g := newTeam(t)
	var others []*tallied
	anna := g.join("anna", 120, 32)
	g.watch = func(m tea.Model) tea.Model {
		others = append(others, &tallied{Model: m})
		return others[len(others)-1]
	}
	var all []*member
	for i := range screens {
		all = append(all, g.join(fmt.Sprint("user", i), 120, 32))
	}
	say := func(text string) {
		t.Helper()
		for _, m := range all {
			m.says(text)
		}
	}
	want := func(acts int) {
		t.Helper()
		for i, c := range others {
			all[i].Look(func(tea.Model) {}) // it has drawn
			if messages, frames := c.restart(); len(messages) != acts || frames != acts {
				t.Errorf("after %d acts screen %d got %d messages %v and drew %d frames", acts, i, len(messages), messages, frames)
			}
		}
	}
	anna.pane()
	anna.hide("gpt-4*") // the session is noted in the journal before its first change
	say("anna hid gpt-4*")
	for _, c := range others {
		c.restart()
	}
	for i := range edits {
		pattern := fmt.Sprintf("o%d*", i+4)
		if _, err := anna.session.CallTool(t.Context(), "add_ignore_rule", json.RawMessage(`{"pattern":"`+pattern+`"}`), nil); err != nil {
			t.Fatal(err)
		}
		say("anna hid " + pattern)
	}
	want(edits)
	anna.hide("gpt-5*")
	say("anna hid gpt-5*")
	anna.save()
	say("anna saved the rules")
	anna.hide("llama*")
	say("anna hid llama*")
	want(3)
}

// An entry of the log with what an outcome has shown already is not drawn again.
func TestWhatIsShownAlreadyIsNotDrawnAgain(t *testing.T) {
	m, d := newProgram(t, setup{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.opts.Parts)())
	draws := func(msg tea.Msg) bool {
		m.View()
		m.Update(msg)
		return testing.AllocsPerRun(1, func() { m.View() }) > 0
	}
	provider := d.window.Provider()
	edited := m.commands.Edit(m.acts.query(), modelfilter.AddRule{Provider: provider, Rule: modelfilter.Rule{List: modelfilter.Ignore, Pattern: "gpt-4*"}}, d.window.Revision())().(usecase.Edited)
	log := usecase.LogRead{Update: assistant.Update{Version: d.session.Version(), State: edited.State}}
	if !draws(edited) || !strings.Contains(frameOf(m), "gpt-4*") {
		t.Errorf("the outcome is not drawn:\n%s", frameOf(m))
	}
	if draws(log) {
		t.Error("the entry of the log is drawn after its outcome")
	}
	m.notice.Info("changed")
	m.Update(tea.FocusMsg{}) // and the entry comes before the frame
	if m.Update(log); !strings.Contains(frameOf(m), "changed") {
		t.Error("an entry that was known hides what changed before it")
	}
	for name, msg := range map[string]tea.Msg{
		"stale pairs":        usecase.LogRead{Update: assistant.Update{Version: log.Version, Stale: &assistant.StalePairs{All: true}}},
		"what others did":    usecase.LogRead{Update: assistant.Update{Version: log.Version}, Done: []windowlock.Change{{Kind: windowlock.Joined, User: "bert"}}},
		"a frame of a wait":  usecase.LogRead{},
		"another message":    tea.FocusMsg{},
		"the same, missed":   usecase.LogRead{Update: log.Update, Missed: true},
		"the same, a resync": usecase.LogRead{Update: assistant.Update{Version: log.Version, State: log.State, Resync: true}},
	} {
		if !draws(msg) {
			t.Errorf("%s: not drawn", name)
		}
	}
}
