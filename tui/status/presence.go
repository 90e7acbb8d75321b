package status

import (
	"cmp"
	"path/filepath"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// Others are those who work in the window beside the own session.
type Others struct {
	Shared bool   // the window is one that sessions share
	Holder string // whose turn has the window; "": no other one has it
	Count  int    // open sessions beside the own one
	// Waiting names the users whose assistants wait for their answer: the window is free.
	Waiting []string

	users map[string]string // by session
}

// OthersOf are the others of a session; part is nil when it has its window to itself.
func OthersOf(part *assistant.Others, session string) Others {
	if part == nil {
		return Others{}
	}
	o := Others{Shared: true, users: map[string]string{}}
	for _, p := range part.Present {
		if o.users[p.Session] = p.User; p.Session != session {
			o.Count++
		}
	}
	if h := part.Holder; h != nil && h.Session != session {
		o.Holder = h.User
	}
	for _, h := range part.Waiting {
		if h.Session != session {
			o.Waiting = append(o.Waiting, h.User)
		}
	}
	return o
}

const (
	maxName   = 20  // of a user, in cells
	maxClause = 200 // of what they did
)

func userName(name string) string { return safetext.Line(cmp.Or(name, "someone"), maxName) }

// assistantOf is windowlock.AssistantOf with the name as userName shortens it.
func assistantOf(user string) string {
	return strings.Replace(windowlock.AssistantOf(user), user, userName(user), 1)
}

// Working says whose assistant has the window, else whose waits for an answer; "" when
// none does.
func (o *Others) Working() string {
	switch {
	case o.Holder != "":
		return assistantOf(o.Holder) + " is working"
	case len(o.Waiting) > 0:
		return assistantOf(o.Waiting[0]) + " waits for " + userName(o.Waiting[0])
	}
	return ""
}

// Refused is the *windowlock.HeldError of a change now; nil when nobody's turn has the window.
func (o *Others) Refused() error {
	if o.Holder == "" {
		return nil
	}
	return &windowlock.HeldError{Holder: windowlock.Holder{User: o.Holder}}
}

// Badge is Working in as few words as the header of a screen of w cells has room for.
func (o *Others) Badge(w int) string {
	const wide, long = 100, 8
	if w >= wide {
		return o.Working()
	}
	if o.Holder == "" && len(o.Waiting) > 0 {
		return safetext.Line(o.Waiting[0], long-1) + "?"
	}
	return safetext.Line(o.Holder, long)
}

// CountText is how many others there are; "" for none.
func (o *Others) CountText() string {
	if o.Count == 0 {
		return ""
	}
	return assistant.Counted(o.Count, "other")
}

// ChangeSentence says what another user did. quiet: it is for the list of notices only.
func ChangeSentence(c windowlock.Change) (text string, quiet bool) {
	user, what := userName(c.User), safetext.Line(cmp.Or(c.Effect, c.What), maxClause)
	switch c.Kind {
	case windowlock.Held:
		return assistantOf(c.User) + " is working", true
	case windowlock.Released:
		return assistantOf(c.User) + " is done", true
	case windowlock.Waiting:
		return assistantOf(c.User) + " waits for " + user, true
	case windowlock.Joined:
		return user + " joined", true
	case windowlock.Left:
		return user + " left", true
	case windowlock.Saved:
		return user + " saved the rules", false
	case windowlock.Reloaded:
		return "another program changed " + safetext.Line(filepath.Base(c.What), maxClause) + " · its rules are loaded", false
	case windowlock.RolledBack:
		verb := "undid a rollback"
		if c.What != "" {
			verb = "rolled back"
		}
		if what = safetext.Line(c.Effect, maxClause); what != "" {
			what = " · " + what
		}
		return user + " " + verb + what, false
	case windowlock.Proposed:
		return user + " proposes: " + what, false
	case windowlock.Applied:
		return what, false
	case windowlock.Decided:
		return user + " " + what, false
	case windowlock.ToolRan:
		user = assistantOf(c.User)
	case windowlock.Edited:
	}
	if c.Effect == "" {
		return user + ": " + what, false
	}
	return user + " " + what, false
}

// RollbackLines are steps of others that a rollback undoes as well, as lines of a question;
// there are none when the window is not shared.
func (o *Others) RollbackLines(steps []checkpoint.Checkpoint) (lines []string) {
	if !o.Shared {
		return nil
	}
	const shown = 6
	for _, c := range steps[:min(len(steps), shown)] {
		lines = append(lines, stepLine(o.users[c.Session], c))
	}
	if more := len(steps) - shown; more > 0 {
		lines = append(lines, "and "+assistant.Counted(more, "more step"))
	}
	return lines
}

func stepLine(user string, c checkpoint.Checkpoint) string {
	return strings.TrimSpace(userName(user) + ": " + safetext.Line(c.Description, maxClause))
}
