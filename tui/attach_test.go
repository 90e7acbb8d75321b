package tui

import (
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/tuitest"
)

// fetching is a desk without a terminal in a folder with a file to send.
func fetching(t *testing.T) (*Model, *desk) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("the text of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, d := furnished(t, furniture{})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	t.Cleanup(func() { m.session.Cancel() })
	return m, d
}

// The message leaves the box as it is sent, and what is written while its files
// are read stays there.
func TestOneWritesOnWhileFilesAreRead(t *testing.T) {
	m, _ := fetching(t)
	m.draft.Set("look at @a.txt")
	read := m.send()
	if !m.draft.Empty() {
		t.Fatalf("the box holds %q", m.draft.Text())
	}
	m.draft.Insert("next")
	if d := m.drafted(); d.Text != "next" || !slices.Contains(d.Stash, "look at @a.txt") {
		t.Errorf("what would be kept is %q: a crash now loses the message", d)
	}
	m.Update(read())
	if !m.turn.running || m.turn.typed != "look at @a.txt" || m.draft.Text() != "next" {
		t.Errorf("running %v, sent %q, the box holds %q", m.turn.running, m.turn.typed, m.draft.Text())
	}
}

func TestAMessageWhoseFileCannotBeReadComesBack(t *testing.T) {
	for since, want := range map[string]string{"": "look at @none.txt", "next": "next"} {
		m, _ := fetching(t)
		m.draft.Set("look at @none.txt")
		read := m.send()
		m.draft.Insert(since)
		m.Update(read())
		if m.turn.running || m.draft.Text() != want || !m.notice.warn {
			t.Errorf("running %v, the box holds %q, want %q; said %q", m.turn.running, m.draft.Text(), want, m.notice.text)
		}
		if since != "" && (!m.draft.Older() || m.draft.Text() != "look at @none.txt") {
			t.Errorf("the key for earlier messages brings %q", m.draft.Text())
		}
	}
}

// A message that waits for a file is not overtaken by the next.
func TestMessagesKeepTheirOrderWhileFilesAreRead(t *testing.T) {
	m, _ := fetching(t)
	m.draft.Set("first @a.txt")
	first := m.send()
	m.draft.Set("second")
	second := m.send()
	m.Update(second())
	if m.turn.running {
		t.Fatalf("%q was sent first", m.turn.typed)
	}
	m.Update(first())
	if m.turn.typed != "first @a.txt" || m.queued != "second" {
		t.Errorf("sent %q, waits %q", m.turn.typed, m.queued)
	}
}

func TestAFileIsSentWithAMessageOfTheStart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("the text of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := bootDesk(t, furniture{}, nil)
	b.Type("look at @a.txt", tuitest.Send)
	b.Wait("goes out as soon as")
	b.Type("next")
	b.box("next")
	b.gate.Open()
	b.Until(func(frame string) bool { return strings.Contains(frame, "look at @a.txt") && boxOf(frame) == "next" })
}
