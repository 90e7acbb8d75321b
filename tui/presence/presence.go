// Package presence is what a screen knows of the others in a window that sessions share:
// who works in it, and what they do.
//
// # Types
//
// Others is the state of one screen. Wait reads the changes of the hub as a Changed, and
// Apply takes that over. Sentence says a change of somebody else for the footer,
// RollbackLines what a rollback would undo of them.
//
// # Who may call what from where
//
// Others belongs to the update loop of its screen; Wait is a tea.Cmd of it. A Wait ends
// with the next change: the one that announces that the session was closed is the last.
//
// # Caveats
//
// Texts are safe to show, whoever wrote them.
package presence

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/share"
	"winnow/checkpoint"
)

// Others are those who work in the window beside the own session. The zero value is a
// window that nobody shares.
type Others struct {
	Holder string // whose turn has the window; "" is nobody's, or the own one
	Count  int    // open sessions beside the own one
	// Waiting names the users whose assistants wait for their answer: the window is free.
	Waiting []string
	// AnswerWait is how long a question of the own turn may stay unanswered. 0 is for ever.
	AnswerWait time.Duration

	session *serve.Session
	read    int64 // number of the newest change that was read; 0 is none yet
}

// Of are the others of a session; nil is a window that nobody shares.
func Of(s *serve.Session) Others {
	if s == nil {
		return Others{}
	}
	return Others{session: s, AnswerWait: serve.AnswerWait}
}

// Shared reports whether the window is one that sessions share.
func (o *Others) Shared() bool { return o.session != nil }

// Changed is what happened in the window.
type Changed struct {
	Changes []share.Change // of others, oldest first
	Missed  bool           // there were more, which nobody knows any more

	others Others // as they are now
}

// Wait returns what has happened since it was last called, as a Changed; at once at the
// first time, else when something has happened. nil: nothing will happen any more.
func (o Others) Wait() tea.Msg {
	if o.session == nil {
		return nil
	}
	log := o.session.Changes()
	for {
		msg := Changed{others: o}
		entries, more, err := log.After(o.read)
		if msg.others.read += int64(len(entries)); err != nil {
			msg.others.read = log.Last()
		}
		if o.read == 0 { // the screen has read the window as it is
			entries, err = nil, nil
		}
		if msg.others.read == o.read {
			if more == nil {
				return nil
			}
			<-more
			continue
		}
		msg.Missed, msg.others.Holder, msg.others.Count = err != nil, o.session.HeldBy(), len(o.session.Others())
		msg.others.Waiting = o.session.OthersWaiting()
		for _, c := range entries {
			if c.Session != o.session.ID() {
				msg.Changes = append(msg.Changes, c)
			}
		}
		return msg
	}
}

// Apply takes over what Wait has returned, and returns the next Wait.
func (o *Others) Apply(msg Changed) tea.Cmd {
	*o = msg.others
	return o.Wait
}

const (
	maxName   = 20  // of a user, in cells
	maxClause = 200 // of what they did
)

func userName(name string) string { return safetext.Line(cmp.Or(name, "someone"), maxName) }

// assistantOf is share.AssistantOf with the name as userName shortens it.
func assistantOf(user string) string {
	return strings.Replace(share.AssistantOf(user), user, userName(user), 1)
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

// Refused is the *share.HeldError of a change now; nil when nobody's turn has the window.
func (o *Others) Refused() error {
	if o.Holder == "" {
		return nil
	}
	return &share.HeldError{Holder: share.Holder{User: o.Holder}}
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

// Sentence says what somebody else did. quiet: it is for the list of notices only.
func Sentence(c share.Change) (text string, quiet bool) {
	user, what := userName(c.User), safetext.Line(cmp.Or(c.Effect, c.What), maxClause)
	switch c.Kind {
	case share.Held:
		return assistantOf(c.User) + " is working", true
	case share.Released:
		return assistantOf(c.User) + " is done", true
	case share.Waiting:
		return assistantOf(c.User) + " waits for " + user, true
	case share.Joined:
		return user + " joined", true
	case share.Left:
		return user + " left", true
	case share.Saved:
		return user + " saved the rules", false
	case share.Reloaded:
		return "somebody else changed " + safetext.Line(filepath.Base(c.What), maxClause) + " · its rules are loaded", false
	case share.RolledBack:
		verb := map[bool]string{true: "rolled back", false: "undid a rollback"}[c.What != ""]
		if what = safetext.Line(c.Effect, maxClause); what != "" {
			what = " · " + what
		}
		return user + " " + verb + what, false
	case share.ToolRan:
		user = assistantOf(c.User)
	case share.Edited:
	}
	if c.Effect == "" {
		return user + ": " + what, false
	}
	return user + " " + what, false
}

// RollbackLines are the steps of others that a rollback to a checkpoint undoes as well,
// as lines of a question; none when there are none, or nobody shares the window.
func (o *Others) RollbackLines(id string) (lines []string) {
	if o.session == nil {
		return nil
	}
	const shown = 6
	steps := o.session.OthersSince(id)
	for _, c := range steps[:min(len(steps), shown)] {
		lines = append(lines, stepLine(o.session.UserOf(c.Session), c))
	}
	if more := len(steps) - shown; more > 0 {
		lines = append(lines, "and "+assistant.Counted(more, "more step"))
	}
	return lines
}

func stepLine(user string, c checkpoint.Checkpoint) string {
	return strings.TrimSpace(userName(user) + ": " + safetext.Line(c.Description, maxClause))
}
