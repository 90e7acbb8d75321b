package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/tui/tuitest"
)

// archive is a fixture whose history holds another session and an empty one.
func archive(t *testing.T, f setup) *fixture {
	t.Helper()
	old := told("first of the old session,\nwith a second line", "an old answer")
	old.Session = "old"
	second := told("second of the old session", "another old answer")
	second.Session = "old"
	f.pairs = []assistant.Pair{old, second, told("here?", "said here")}
	f.history = func(h history.Store) error {
		for id, folder := range map[string]string{"old": "/srv/gateway", "s1": "/home/me", "empty": "/home/nobody"} {
			if err := h.Touch(t.Context(), history.Session{ID: id, Folder: folder, Model: "test/other"}); err != nil {
				return err
			}
		}
		return nil
	}
	d := startProgram(t, f)
	d.Wait("1/1")
	return d
}

func (d *fixture) sessions() {
	d.t.Helper()
	d.Type(tuitest.CtrlP, "Sessions", tuitest.Enter)
	d.Wait("─ Sessions ─")
}

func TestSessionsAreKnownByTheirFirstMessage(t *testing.T) {
	d := archive(t, setup{w: 80, h: 24})
	d.sessions()
	for _, text := range []string{"first of the old session,", "/srv/gateway", "2 messages", "here?", "1 message", "enter continues it · alt+o shows its messages"} {
		d.Wait(text)
	}
	if strings.Contains(d.Frame(), "nobody") || strings.Contains(d.Frame(), "0 messages") {
		t.Errorf("a session without pairs is listed:\n%s", d.Frame())
	}
	d.Type("first of")
	d.Wait("/ first of")
	d.Type(tuitest.Key("alt+o"))
	d.Wait("another old answer")
	d.Wait("only x'old'")
	if d.session.ID() != "s1" {
		t.Error("showing the pairs of a session continues it")
	}
}

func TestSessionGoesOnInsideTheProgram(t *testing.T) {
	d := archive(t, setup{answers: []at.Answer{say("and on")}})
	d.sessions()
	d.Type("first of")
	d.Wait("/ first of")
	d.Type(tuitest.Enter)
	d.says("the session continues · its model is now in use: test/other")
	d.Wait("another old answer")
	d.Wait("2/2")
	d.WaitGone("said here")
	d.ask("more", "and on")
	d.hold("the pair in the old session", func() bool {
		refs, err := d.store.Refs(t.Context(), "old", 3.5)
		return err == nil && len(refs) == 3 && d.session.ID() == "old"
	})
	if last, found, err := d.store.LastSession(t.Context(), "/srv/gateway"); err != nil || !found || last.ID != "old" {
		t.Errorf("the last session of the folder is %q, %v", last.ID, err)
	}
	d.sessions()
	d.Wait("» first of")
}

func TestContinuingASessionKeepsUnsavedRules(t *testing.T) {
	d := archive(t, setup{})
	deleteRule(d)
	d.Wait("unsaved")
	d.sessions()
	d.Type("first of")
	d.Wait("/ first of")
	d.Type(tuitest.Enter)
	d.says("the session continues")
	d.Wait("unsaved")
}

// A named session shows its title in the header, from the start and after a change.
func TestTheTitleOfASessionIsInTheHeader(t *testing.T) {
	d := archive(t, setup{})
	d.Type("/title My great title", tuitest.Send)
	d.says("this session is called “My great title”")
	d.Wait("winnow · model filter · openai · “My great title”")
	d.Type("/title -", tuitest.Send)
	d.WaitGone("· “My great title”")
}

// A session begun with ctrl+n is the last of its folder: --continue finds it.
func TestANewSessionIsFoundInItsFolder(t *testing.T) {
	r := start(t, 80, 24)
	r.Wait("What would you like to change?")
	if err := r.store.Touch(t.Context(), history.Session{ID: r.session.ID(), Folder: "/home/gateway", Window: "/home/gateway/.env"}); err != nil {
		t.Fatal(err)
	}
	before := r.session.ID()
	r.Type(tuitest.Key("ctrl+n"))
	r.Wait("a new session")
	last, found, err := r.store.LastSession(t.Context(), "/home/gateway")
	if err != nil || !found || last.ID == before || last.ID != r.session.ID() || last.Window != "/home/gateway/.env" {
		t.Errorf("the last session is %+v (%v, %v), the new one %s", last, found, err, r.session.ID())
	}
}
