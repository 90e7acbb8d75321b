package plain

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/workspace"
)

// listed is how many models or sessions are listed at once; a TEXT finds others.
const listed = 20

func (c *console) listModels(text string) {
	c.models = nil
	for _, m := range c.s.Registry().Models() {
		if !m.NoChat && strings.Contains(strings.ToLower(m.ID), strings.ToLower(text)) {
			c.models = append(c.models, m.ID)
		}
	}
	if len(c.models) == 0 {
		c.out.line("No model is known by that name. /model PROVIDER/NAME chooses one that is not listed.")
		return
	}
	c.out.line("Models, /model and the number chooses:")
	for i, id := range c.models[:min(len(c.models), listed)] {
		chosen := ""
		if id == c.s.Model() {
			chosen = ", chosen"
		}
		c.indented(fmt.Sprintf("%d %s%s", i+1, visibleLine(id), chosen))
	}
	if more := len(c.models) - listed; more > 0 {
		c.out.line(fmt.Sprintf("%d more; /models TEXT finds those with TEXT in their name.", more))
	}
}

func (c *console) chooseModel(id string) {
	if _, err := strconv.Atoi(id); err == nil {
		i, ok := c.index(id, len(c.models), "There is no model of that number; /models lists and numbers them.")
		if !ok {
			return
		}
		id = c.models[i]
	}
	if id != "" {
		if err := c.w.PickModel(c.ctx, id); err != nil {
			c.fail(err)
			return
		}
		c.out.line(c.modelText() + " from the next message on.")
		c.showChanges()
		return
	}
	c.out.line(c.modelText() + ".")
}

func (c *console) listSessions(text string) {
	all, err := c.w.Sessions(c.ctx)
	if err != nil {
		c.fail(err)
		return
	}
	c.sessions = nil
	for _, s := range all {
		if strings.Contains(strings.ToLower(s.Title+" "+s.Folder), strings.ToLower(text)) {
			c.sessions = append(c.sessions, s)
		}
	}
	if len(c.sessions) == 0 {
		c.out.line("There is no such session with messages.")
		return
	}
	c.out.line("Sessions, /session and the number resumes one:")
	for i, s := range c.sessions[:min(len(c.sessions), listed)] {
		about := []string{assistant.Counted(s.Pairs, "pair"), s.Used.Local().Format("2006-01-02 15:04")}
		if s.Folder != "" {
			about = append(about, visibleLine(s.Folder))
		}
		if s.ID == c.s.ID() {
			about = append(about, "this one")
		}
		c.indented(fmt.Sprintf("%d %s (%s)", i+1, oneLine(s.Title), strings.Join(about, ", ")))
	}
	if more := len(c.sessions) - listed; more > 0 {
		c.out.line(fmt.Sprintf("%d more; /sessions TEXT finds those with TEXT in their first message or folder.", more))
	}
}

// resume continues a session of the last list; it asks when something is unsaved.
func (c *console) resume(number string) {
	i, ok := c.index(number, len(c.sessions), "There is no session of that number; /sessions lists and numbers them.")
	if !ok {
		return
	}
	id := c.sessions[i].ID
	if id == c.s.ID() {
		c.out.line("This is that session.")
		return
	}
	c.switchSession("Type yes to resume that session: ", "The session continues; /pairs lists its messages. Unsaved changes stay.",
		func(confirmed bool) (*workspace.Confirm, error) { return c.w.ResumeSession(c.ctx, id, confirmed) })
}

// newSession starts a new session; it asks when something is unsaved.
func (c *console) newSession(string) {
	c.switchSession("Type yes for a new session: ", "A new session. Earlier messages are not sent any more; unsaved changes stay.",
		func(confirmed bool) (*workspace.Confirm, error) { return c.w.NewSession(c.ctx, confirmed) })
}

func (c *console) switchSession(prompt, done string, change func(confirmed bool) (*workspace.Confirm, error)) {
	before := c.s.ID()
	finish := func(err error) {
		if err != nil {
			c.fail(err)
			if c.s.ID() == before {
				return
			}
		}
		c.choices, c.unsent, c.failed, c.late = nil, "", 0, nil
		c.out.line(done)
		c.showChanges()
	}
	confirm, err := change(false)
	if confirm == nil {
		finish(err)
		return
	}
	c.askYes("There are unsaved changes; they stay. "+prompt, func() {
		_, err := change(true)
		finish(err)
	})
}
