package tui

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
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
