package tui

import (
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/history/historytest"
	"winnow/assistant/llm"
	"winnow/tui/tuitest"
)

// fetching is a fixture without a terminal in a folder with a file to send.
func fetching(t *testing.T, answers ...at.Answer) (*Model, *fixture) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("the text of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, d := newProgram(t, setup{answers: answers})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	t.Cleanup(func() { m.opts.Work.Session().Cancel() })
	return m, d
}

// The message leaves the box as it is sent, and what is written while its files
// are read stays there.
func TestOneWritesOnWhileFilesAreRead(t *testing.T) {
	m, _ := fetching(t)
	m.input.draft.Set("look at @a.txt")
	read := m.send()
	if !m.input.draft.Empty() {
		t.Fatalf("the box holds %q", m.input.draft.Text())
	}
	m.input.draft.Paste("next")
	if d := m.input.drafted(); d.Text != "next" || !slices.Contains(d.Stash, "look at @a.txt") {
		t.Errorf("what would be kept is %q: a crash now loses the message", d)
	}
	m.Update(read())
	if !m.turn.running || m.turn.typed != "look at @a.txt" || m.input.draft.Text() != "next" {
		t.Errorf("running %v, sent %q, the box holds %q", m.turn.running, m.turn.typed, m.input.draft.Text())
	}
}

func TestAMessageWhoseFileCannotBeReadComesBack(t *testing.T) {
	for since, want := range map[string]string{"": "look at @none.txt", "next": "next"} {
		m, _ := fetching(t)
		m.input.draft.Set("look at @none.txt")
		read := m.send()
		m.input.draft.Paste(since)
		m.Update(read())
		if m.turn.running || m.input.draft.Text() != want || !m.notice.Failed {
			t.Errorf("running %v, the box holds %q, want %q; said %q", m.turn.running, m.input.draft.Text(), want, m.notice.Text)
		}
		if since != "" && (!m.input.draft.Older() || m.input.draft.Text() != "look at @none.txt") {
			t.Errorf("the key for earlier messages brings %q", m.input.draft.Text())
		}
	}
}

// A message that waits for a file is not overtaken by the next.
func TestMessagesKeepTheirOrderWhileFilesAreRead(t *testing.T) {
	gate := at.NewGate() // the first turn goes on
	m, _ := fetching(t, at.Answer{at.Stop{At: gate}})
	m.input.draft.Set("first @a.txt")
	first := m.send()
	m.input.draft.Set("second")
	if m.send() != nil || m.turn.running {
		t.Fatalf("%q was sent first", m.turn.typed)
	}
	m.Update(first())
	if m.turn.typed != "first @a.txt" || len(m.input.outbox) != 0 || !m.input.draft.Empty() {
		t.Errorf("sent %q first, %d wait for files, the box holds %q", m.turn.typed, len(m.input.outbox), m.input.draft.Text())
	}
}

func TestAFileIsSentWithAMessageOfTheStart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("the text of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := bootFixture(t, setup{}, nil)
	b.Type("look at @a.txt", tuitest.Send)
	b.Wait("will be sent once the session is loaded")
	b.Type("next")
	b.box("next")
	b.gate.Open()
	b.Until(func(frame string) bool { return strings.Contains(frame, "look at @a.txt") && boxOf(frame) == "next" })
}

// A picture goes with its message. What cannot be sent stays in the box, and the footer
// says why and the way out.
func TestPicturesOfAMessage(t *testing.T) {
	gate := at.NewGate()
	m, d := fetching(t, at.Answer{at.Stop{At: gate}})
	picture := historytest.Picture(t, "a.png", 8)
	for name, data := range map[string]string{"a.png": string(picture.Data), "no.png": "text"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(text string, want ...string) {
		t.Helper()
		m.input.draft.Set(text)
		m.Update(m.send()())
		if m.turn.running || m.input.draft.Text() != text || !m.notice.Failed {
			t.Errorf("running %v, the box holds %q", m.turn.running, m.input.draft.Text())
		}
		for _, w := range want {
			if !strings.Contains(string(m.notice.Text), w) {
				t.Errorf("%q is refused with %q, want %q", text, m.notice.Text, w)
			}
		}
	}
	refused("look at @no.png", "@no.png is not a kind of picture that models accept", "convert it to PNG")
	refused("look at @none.png", "@none.png does not exist")
	model := m.opts.Work.Session().Model()
	m.opts.Work.Session().Registry().Learn(llm.ModelInfo{ID: model, Tools: true, Vision: llm.Unable})
	refused("look at @a.png", "cannot see pictures", model, "chooses another")
	m.opts.Work.Session().Registry().Learn(llm.ModelInfo{ID: model, Tools: true, Vision: llm.Able})
	m.Update(m.send()())
	if !m.turn.running || m.turn.typed != "look at @a.png" {
		t.Fatalf("running %v, sent %q, said %q", m.turn.running, m.turn.typed, m.notice.Text)
	}
	gate.Wait(t) // the model has been asked
	messages := d.script.Requests()[0].Messages
	last := messages[len(messages)-1]
	if last.Content != "look at @a.png" || len(last.Pictures) != 1 || string(last.Pictures[0].Data) != string(picture.Data) {
		t.Errorf("sent %+v", last)
	}
}
