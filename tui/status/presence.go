package status

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// Others describes who else works in the window. The zero value means that the window is not
// shared.
type Others struct {
	Shared bool   // several sessions share the window
	Holder string // the user whose turn has locked the window; "" if no other session has locked it
	Count  int    // number of other open sessions
	// Waiting names the users whose assistants wait for an answer; these assistants do not
	// lock the window.
	Waiting []string

	present []windowlock.Present
}

// OthersOf returns the others as seen from a session. part is nil if the session does not
// share its window.
func OthersOf(part *assistant.Others, session string) Others {
	if part == nil {
		return Others{}
	}
	o := Others{Shared: true, present: part.Present}
	for _, p := range part.Present {
		if p.Session != session {
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

// userOf returns the user of an open session; "" if the session is not open.
func (o *Others) userOf(session string) string {
	i := slices.IndexFunc(o.present, func(p windowlock.Present) bool { return p.Session == session })
	if i < 0 {
		return ""
	}
	return o.present[i].User
}

const (
	maxName   = 20  // maximum cells of a user's name
	maxClause = 200 // maximum cells of what a user did
)

func userName(name string) safetext.Text { return safetext.Line(cmp.Or(name, "someone"), maxName) }

// assistantOf returns windowlock.AssistantOf with the name shortened by userName.
func assistantOf(user string) safetext.Text {
	return safetext.Clean(strings.Replace(windowlock.AssistantOf(user), user, string(userName(user)), 1))
}

// Working says whose assistant has locked the window or, if it is not locked, whose
// assistant waits for an answer; "" if neither is the case.
func (o *Others) Working() string {
	switch {
	case o.Holder != "":
		return string(assistantOf(o.Holder) + " is working")
	case len(o.Waiting) > 0:
		return string(assistantOf(o.Waiting[0]) + " waits for " + userName(o.Waiting[0]))
	}
	return ""
}

// Badge returns what Working says, in a form that fits the header of a screen of w cells.
func (o *Others) Badge(w int) string {
	const wide, long = 100, 8
	if w >= wide {
		return o.Working()
	}
	if o.Holder == "" && len(o.Waiting) > 0 {
		return string(safetext.Line(o.Waiting[0], long-1) + "?")
	}
	return string(safetext.Line(o.Holder, long))
}

// CountText says how many others there are; "" if there are none.
func (o *Others) CountText() string {
	if o.Count == 0 {
		return ""
	}
	return assistant.Counted(o.Count, "other")
}

// ChangeSentence says what another user did. If quiet is true, the sentence is shown only
// in the list of notices.
func ChangeSentence(c windowlock.Change) (text safetext.Text, quiet bool) {
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
		if c.Effect != "" {
			return what, false
		}
		return "another program changed " + safetext.Line(filepath.Base(c.What), maxClause) + " · its rules are loaded", false
	case windowlock.RolledBack:
		var verb safetext.Text = "undid a rollback"
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
		if user = assistantOf(c.User); c.Effect == "" { // it failed or changed nothing
			return user + " ran " + what, true
		}
	case windowlock.Edited:
	}
	if c.Effect == "" {
		return user + ": " + what, false
	}
	return user + " " + what, false
}

// RollbackLines lists the steps of others that a rollback would undo too, as lines of a
// question. There are none if the window is not shared.
func (o *Others) RollbackLines(steps []checkpoint.Checkpoint) (lines []string) {
	if !o.Shared {
		return nil
	}
	const shown = 6
	for _, c := range steps[:min(len(steps), shown)] {
		lines = append(lines, stepLine(o.userOf(c.Session), c))
	}
	if more := len(steps) - shown; more > 0 {
		lines = append(lines, "and "+assistant.Counted(more, "more step"))
	}
	return lines
}

func stepLine(user string, c checkpoint.Checkpoint) string {
	return strings.TrimSpace(string(userName(user)+": ") + string(safetext.Line(c.Description, maxClause)))
}
