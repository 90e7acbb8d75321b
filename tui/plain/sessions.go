package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant/history"
)

// sessionsRead is how many sessions are read at once; a TEXT finds the others.
const sessionsRead = 20

// listSessions reads the sessions that have messages, the one used last first,
// and numbers them.
func (c *console) listSessions(args string) {
	if c.o.History == nil {
		c.out.line("There is no history in this run.")
		return
	}
	all, err := c.o.History.Sessions(c.ctx)
	if err != nil {
		c.fail(err)
		return
	}
	want := strings.ToLower(args)
	c.sessions = slices.DeleteFunc(all, func(s history.Session) bool {
		return s.Pairs == 0 || !strings.Contains(strings.ToLower(s.Title+" "+s.Folder), want)
	})
	if len(c.sessions) == 0 {
		c.out.line("There is no such session with messages.")
		return
	}
	c.out.line("Sessions, /session and the number goes on with one:")
	for i, s := range c.sessions[:min(len(c.sessions), sessionsRead)] {
		about := []string{history.Pairs(s.Pairs), s.Used.Local().Format("2006-01-02 15:04")}
		if s.Folder != "" {
			about = append(about, shown(s.Folder))
		}
		if s.ID == c.s.ID() {
			about = append(about, "this one")
		}
		c.out.line(fmt.Sprintf("  %d %s (%s)", i+1, oneLine(s.Title), strings.Join(about, ", ")))
	}
	if more := len(c.sessions) - sessionsRead; more > 0 {
		c.out.line(fmt.Sprintf("%d more; /sessions TEXT finds those with TEXT in their first message or folder.", more))
	}
}

// goOn takes up a session of the last list. It asks when something is unsaved,
// as a new session does.
func (c *console) goOn(args string) {
	n, err := strconv.Atoi(args)
	if err != nil || n < 1 || n > len(c.sessions) {
		c.out.line("There is no session of that number; /sessions lists and numbers them.")
		return
	}
	id := c.sessions[n-1].ID
	if id == c.s.ID() {
		c.out.line("This is that session.")
		return
	}
	take := func() {
		if err := history.ResumeSession(c.ctx, c.o.History, c.s, id); err != nil {
			c.fail(err)
			if c.s.ID() != id {
				return
			}
		}
		c.choices, c.again, c.late = nil, again{}, nil
		c.out.line("The session goes on; /pairs lists its messages. Unsaved changes stay.")
		c.tell()
	}
	if !c.isUnsaved() {
		take()
		return
	}
	c.askYes("There are unsaved changes; they stay. Type yes to go on with that session: ", take)
}
