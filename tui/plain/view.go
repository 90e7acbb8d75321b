package plain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
	"winnow/tui/lines"
	"winnow/tui/modelpicker"
)

// listPairs lists messages by their number in view; the oldest is 1.
func (c *console) listPairs(args string) error {
	shown := c.session.Shown()
	refs := shown.Refs
	n := 10
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return reply("Usage: /pairs NUMBER")
		}
	}
	if len(refs) == 0 {
		return reply("There are no pairs in view.")
	}
	from := max(0, len(refs)-n)
	var seqs []int64
	positions := map[int64]int{} // in view, by Seq
	for i, r := range refs[from:] {
		seqs, positions[r.Seq] = append(seqs, r.Seq), from+i
	}
	pairs, err := c.session.Pairs(c.ctx, seqs)
	if err != nil {
		return err
	}
	c.out.Line(fmt.Sprintf("Pairs %d to %d of %d:", from+1, len(refs), len(refs)))
	for _, p := range pairs {
		i := positions[p.Seq]
		c.out.Indent(fmt.Sprintf("%d %s%s", i+1, lines.Quote(p.UserText), lines.Marks(&p, shown.Boundary.Includes(i))))
	}
	return nil
}

// readPair shows the pair of a number in view, "" is the last, with everything in it.
func (c *console) readPair(number string) error {
	refs := c.session.Visible()
	if number == "" {
		number = strconv.Itoa(len(refs))
	}
	i, err := index(number, len(refs), "There is no such pair; /pairs lists them.")
	if err != nil {
		return err
	}
	pairs, err := c.session.Pairs(c.ctx, []int64{refs[i].Seq})
	if err == nil && len(pairs) == 0 {
		err = assistant.ErrNoPair
	}
	if err != nil {
		return err
	}
	c.out.Pair(&pairs[0], c.showReasoning)
	return nil
}

// topic shows the topics, or gives new messages one.
func (c *console) topic(path string) error {
	switch path {
	case "":
	case "none":
		c.session.SetTopic("")
	default:
		c.session.SetTopic(history.TopicPath(path))
	}
	name := "none"
	if c.session.Topic() != "" {
		name = lines.Quote(c.session.Topic())
	}
	c.out.Label("Topic of new messages", name)
	if path == "" {
		topics := c.workspace.Names(c.ctx).Topics
		for _, t := range topics {
			c.out.Indent(lines.Quote(t))
		}
	}
	return nil
}

// filter shows the filter, or sets it.
func (c *console) filter(line string) error {
	if line != "" {
		return c.setFilter(line)
	}
	c.out.Label("Filter", filterName(c.session.Filter()))
	return nil
}

func filterName(line string) string {
	switch line {
	case "":
		return "none, all pairs of all sessions"
	case "x":
		return "x, the pairs of this session"
	}
	return line
}

// setFilter makes what a line matches the view, or executes its :command.
func (c *console) setFilter(line string) error {
	if q, err := filter.Parse(line); err == nil && q.Command != nil {
		return c.executeLine(line)
	}
	found, err := interruptible(c, func(ctx context.Context) (workspace.Filtered, error) { return c.workspace.SetFilter(ctx, line) })
	if err != nil {
		return err
	}
	for _, h := range found.Hints {
		c.out.Line(h.String())
	}
	c.choices, c.counter = nil, c.session.Counter()
	c.out.Line(assistant.Counted(len(found.Refs), "pair") + ". " + c.contextText())
	return nil
}

// executeLine executes the :command of a filter line. A change of many pairs, or for
// good, is asked about.
func (c *console) executeLine(line string) error {
	cmd, err := interruptible(c, func(ctx context.Context) (transfer.Command, error) { return c.workspace.PlanCommand(ctx, line) })
	if err != nil {
		return err
	}
	does := assistant.UpperFirst(cmd.Describe())
	switch cmd.Confirm() {
	case transfer.ConfirmNewTopic:
		does = "There is no topic " + cmd.Topic + ". Create it? " + does + "."
	case transfer.ConfirmDelete:
		does += " for good?"
	case transfer.ConfirmMany:
		does += "?"
	default:
		return c.execute(cmd, line)
	}
	if c.turn != nil { // which may ask a question, too
		return assistant.ErrBusy
	}
	c.out.Label("Question", does)
	c.askYes("Type yes to do it: ", func() error { return c.execute(cmd, line) })
	return nil
}

// execute executes a command that was planned and, where needed, confirmed.
func (c *console) execute(cmd transfer.Command, line string) error {
	out, err := interruptible(c, func(ctx context.Context) (transfer.Outcome, error) { return c.workspace.Execute(ctx, cmd, line) })
	if err != nil {
		return err
	}
	for _, f := range out.Filters {
		c.out.Indent("@" + f.Name + ": " + f.Line)
	}
	if out.Text != "" {
		c.out.Line(assistant.UpperFirst(out.Text) + ".")
	}
	if out.CanUndo() {
		c.out.Line("/undo-pairs undoes it.")
	}
	c.showChanges()
	return nil
}

func (c *console) undoPairs(string) error {
	out, err := c.workspace.UndoCommand(c.ctx)
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return reply("There is no command on pairs to undo.")
	}
	if err == nil {
		c.out.Line("Undone: " + out.Undone() + ".")
		c.showChanges()
	}
	return err
}

func (c *console) listSessions(text string) error {
	all, err := c.workspace.Sessions(c.ctx)
	if err != nil {
		return err
	}
	c.sessions = nil
	for _, s := range all {
		if strings.Contains(strings.ToLower(s.Title+" "+s.Folder), strings.ToLower(text)) {
			c.sessions = append(c.sessions, s)
		}
	}
	if len(c.sessions) == 0 {
		return reply("There is no such session with messages.")
	}
	c.numbered("Sessions, /session and the number resumes one:", len(c.sessions), func(i int) string {
		s := c.sessions[i]
		about := []string{assistant.Counted(s.Pairs, "pair"), s.Used.Local().Format("2006-01-02 15:04")}
		if s.Folder != "" {
			about = append(about, lines.Name(s.Folder))
		}
		if s.ID == c.session.ID() {
			about = append(about, "this one")
		}
		return fmt.Sprintf("%s (%s)", lines.Quote(s.Title), strings.Join(about, ", "))
	}, "/sessions TEXT finds those with TEXT in their first message or folder")
	return nil
}

// resume continues a session of the last list; it asks when something is unsaved.
func (c *console) resume(number string) error {
	i, err := index(number, len(c.sessions), "There is no session of that number; /sessions lists and numbers them.")
	if err != nil {
		return err
	}
	id := c.sessions[i].ID
	if id == c.session.ID() {
		return reply("That is the current session.")
	}
	return c.switchSession("Type yes to resume that session: ", "The session continues; /pairs lists its messages. Unsaved changes stay.",
		func(yes bool) (*workspace.Confirm, error) { return c.workspace.ResumeSession(c.ctx, id, yes) })
}

// newSession starts a new session; it asks when something is unsaved.
func (c *console) newSession(string) error {
	return c.switchSession("Type yes for a new session: ", "A new session. Earlier messages are not sent any more; unsaved changes stay.",
		func(yes bool) (*workspace.Confirm, error) { return c.workspace.NewSession(c.ctx, yes) })
}

func (c *console) switchSession(prompt, done string, change func(yes bool) (*workspace.Confirm, error)) error {
	before := c.session.ID()
	return c.withConfirm(func(yes bool) (*workspace.Confirm, error) {
		confirm, err := change(yes)
		if confirm == nil && (err == nil || c.session.ID() != before) { // also when only its pairs cannot be read
			c.choices, c.unsent = nil, unsent{}
			c.out.Line(done)
			c.showChanges()
		}
		return confirm, err
	}, "There are unsaved changes; they stay.", prompt)
}

func (c *console) listModels(text string) error {
	c.models = nil
	list, gone := modelpicker.Of(c.session.Registry(), time.Now()), map[string]string{}
	list.Current = c.session.Model()
	for _, m := range list.All() {
		if strings.Contains(strings.ToLower(m.ID), strings.ToLower(text)) {
			c.models = append(c.models, m.ID)
			if m.Gone {
				gone[m.ID] = ", " + strings.ReplaceAll(modelpicker.Gone(m), " · ", ", ")
			}
		}
	}
	if len(c.models) == 0 {
		return reply("No model is known by that name. /model PROVIDER/NAME chooses one that is not listed.")
	}
	c.numbered("Models, /model and the number chooses:", len(c.models), func(i int) string {
		if c.models[i] == c.session.Model() {
			return lines.Name(c.models[i]) + gone[c.models[i]] + ", chosen"
		}
		return lines.Name(c.models[i]) + gone[c.models[i]]
	}, "/models TEXT finds those with TEXT in their name")
	ages := list.Ages()
	for _, endpoint := range slices.Sorted(maps.Keys(ages)) {
		c.out.Line("The models of " + lines.Name(endpoint) + " were listed " + ages[endpoint] + ".")
	}
	return nil
}

func (c *console) chooseModel(id string) error {
	if _, err := strconv.Atoi(id); err == nil {
		i, err := index(id, len(c.models), "There is no model of that number; /models lists and numbers them.")
		if err != nil {
			return err
		}
		id = c.models[i]
	}
	if id == "" {
		return reply(c.modelText() + ".")
	}
	if err := c.workspace.PickModel(c.ctx, id); err != nil {
		return err
	}
	c.out.Line(c.modelText() + " from the next message on.")
	c.showChanges()
	return nil
}

func (c *console) setThinking(word string) error {
	c.showReasoning = word == "on" || word == "" && !c.showReasoning
	return reply(map[bool]string{true: "The reasoning is shown.", false: "The reasoning is not shown."}[c.showReasoning])
}

// showStatus shows what a screen always shows.
func (c *console) showStatus(string) error {
	b := c.session.Boundary()
	_, _, model, _ := c.session.Registry().Open(c.session.Model()) // nothing is known of one that is gone
	from := model.LimitFrom()
	if from != "" {
		from = " (" + from + ")"
	}
	c.out.Label("Window", c.opts.Title())
	c.out.Line(c.modelText() + ".")
	c.out.Line(c.contextText() + fmt.Sprintf(" The model takes %s%d tokens%s, %d are for the system prompt and tools, %d are the history, %d are reserved for the next message.",
		map[bool]string{false: "about "}[b.Known], b.ML, from, b.SYS, b.HistoryTokens, c.session.Settings().Budget.URA()))
	c.out.Label("Filter", filterName(c.session.Filter()))
	if topic := c.session.Topic(); topic != "" {
		c.out.Label("Topic", topic)
	}
	c.out.Label("Checkpoints", strconv.Itoa(c.session.Changes()))
	c.out.Line(map[bool]string{true: "There are unsaved changes.", false: "Nothing is unsaved."}[c.workspace.Unsaved()])
	if c.turn != nil {
		c.out.Line("The assistant is working.")
	}
	if p, waits := c.workspace.Queued(); waits {
		c.out.Label("Queued", lines.Quote(p.Text))
	}
	return nil
}

// contextText is the context counter as a sentence.
func (c *console) contextText() string {
	return "Context " + strings.ReplaceAll(c.session.Counter(), "/", " of ") + "."
}

func (c *console) modelText() string {
	if id := c.session.Model(); id != "" {
		return "Model " + lines.Name(id)
	}
	return "No model is selected; /models lists them"
}
