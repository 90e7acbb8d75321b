package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/workspace"

	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// listPairs lists the newest messages: 10, or as many as the argument says. They are numbered
// from the oldest message in the view, which has number 1.
func (c *console) listPairs(ctx context.Context, args string) error {
	shown := c.session.Shown()
	refs := shown.Refs
	n := 10
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return reply("Usage: /messages NUMBER")
		}
	}
	if len(refs) == 0 {
		return reply("No messages are shown.")
	}
	from := max(0, len(refs)-n)
	var seqs []int64
	positions := map[int64]int{} // position of a pair in the view, by its Seq
	for i, r := range refs[from:] {
		seqs, positions[r.Seq] = append(seqs, r.Seq), from+i
	}
	pairs, err := c.session.Pairs(ctx, seqs)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("Messages %d to %d of %d:", from+1, len(refs), len(refs))
	if from+1 == len(refs) {
		title = fmt.Sprintf("Message %d of %d:", len(refs), len(refs))
	}
	c.out.Line(title)
	for _, p := range pairs {
		i := positions[p.Seq]
		c.out.Indent(fmt.Sprintf("%d %s%s", i+1, Quote(string(p.UserText)), Marks(&p, shown.Boundary.Includes(i))))
	}
	return nil
}

// pairAt returns the index in the view, and the Seq, of the pair with the given number; ""
// means the last pair.
func (c *console) pairAt(number string) (i int, seq int64, err error) {
	refs := c.session.Visible()
	if number == "" {
		number = strconv.Itoa(len(refs))
	}
	if i, err = index(number, len(refs), "There is no such message; /messages lists them."); err != nil {
		return 0, 0, err
	}
	return i, refs[i].Seq, nil
}

// readPair prints the pair with the given number in the view in full; "" means the last
// pair.
func (c *console) readPair(ctx context.Context, number string) error {
	_, seq, err := c.pairAt(number)
	if err != nil {
		return err
	}
	p, err := c.pair(ctx, seq)
	if err == nil {
		c.showPair(p)
	}
	return err
}

func (c *console) pair(ctx context.Context, seq int64) (*assistant.Pair, error) {
	pairs, err := c.session.Pairs(ctx, []int64{seq})
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, assistant.ErrNoPair
	}
	return &pairs[0], nil
}

// showPair prints a stored pair in the same way as a turn, including the reasoning and the
// complete results of the tools.
func (c *console) showPair(p *assistant.Pair) {
	c.out.Label("You", string(p.UserText))
	t := TurnLines{
		Answer:    func() Answer { return c.out.Sentences("Assistant") },
		Reasoning: func() Answer { return c.out.Sentences("Thinking") },
		Note:      c.note, Stop: func() {},
	}
	_ = t.Print(Stored(p)) // after a failed write, Run ends
	if p.State == assistant.PairError {
		c.out.Label("Error ("+p.ErrorCode+")", string(p.ErrorMessage))
	}
	if all, chosen := p.Answers(); len(all) > 1 {
		c.out.Line(fmt.Sprintf("This is answer %d of %d.", chosen+1, len(all)))
	}
}

// filter prints or sets the filter; the argument all shows the pairs of all sessions.
func (c *console) filter(ctx context.Context, line string) error {
	switch line {
	case "":
		c.out.Label("Filter", filterName(c.session.Filter()))
		return nil
	case "all":
		line = ""
	}
	return c.setFilter(ctx, line)
}

func filterName(line string) string {
	switch line {
	case "":
		return "none (all messages of all sessions)"
	case "x":
		return "x (the messages of this session)"
	}
	return line
}

// setFilter sets the filter of the view to a line, or executes the line if it has a :command.
func (c *console) setFilter(ctx context.Context, line string) error {
	if q, err := filter.Parse(line); err == nil && q.Command != nil {
		return c.executeLine(ctx, line)
	}
	found, err := c.workspace.SetFilter(ctx, line)
	if err != nil {
		return err
	}
	for _, h := range found.Hints {
		c.out.Line(h.String())
	}
	c.choices, c.counter = nil, c.session.Counter()
	c.changed(assistant.Counted(len(found.Refs), "message") + ". " + c.contextText())
	return nil
}

// executeLine executes a filter line with a :command. It asks first if the command changes
// many pairs or deletes pairs permanently.
func (c *console) executeLine(ctx context.Context, line string) error {
	cmd, err := c.workspace.PlanCommand(ctx, line)
	if err != nil {
		return err
	}
	if title, lines := cmd.Question(); title != "" {
		c.out.Label("Question", string(title))
		for _, l := range lines {
			c.out.Indent(l)
		}
		if !c.yes(ctx, "Type yes to do it: ") {
			c.nothingDone()
			return nil
		}
	}
	out, err := c.workspace.Execute(ctx, cmd, line)
	if err != nil {
		return err
	}
	for _, f := range out.Filters {
		c.out.Indent("@" + f.Name + ": " + f.Line)
	}
	if out.Text != "" {
		c.out.Line(string(assistant.UpperFirst(out.Text) + "."))
	}
	if out.CanUndo() {
		c.out.Line("/undo messages undoes it.")
	}
	c.showChanges()
	return nil
}

// switchSession lists the sessions, starts a new session, or resumes a session of the last
// list. If there are unsaved changes, it asks before it starts a new session.
func (c *console) switchSession(ctx context.Context, which string) error {
	done := "This is a new session. Earlier messages are no longer sent; unsaved changes stay."
	change := func(confirmed bool) (*workspace.Confirm, error) { return c.workspace.NewSession(ctx, confirmed) }
	if number, err := strconv.Atoi(which); err == nil {
		i, err := index(strconv.Itoa(number), len(c.sessions), "There is no session with that number; /session lists and numbers them.")
		if err != nil {
			return err
		}
		id := c.sessions[i].ID
		if id == c.session.ID() {
			return reply("That is the current session.")
		}
		done = "The session continues; /messages lists its messages. Unsaved changes stay."
		change = func(bool) (*workspace.Confirm, error) { return nil, c.workspace.ResumeSession(ctx, id) }
	} else if which != "new" {
		return c.listSessions(ctx, which)
	}
	before := c.session.ID()
	confirm, err := change(false)
	if confirm != nil {
		c.out.Line("There are unsaved changes; they stay.")
		if !c.yes(ctx, "Type yes to start a new session: ") {
			c.nothingDone()
			return nil
		}
		_, err = change(true)
	}
	if err == nil || c.session.ID() != before { // the session has changed, even if its pairs cannot be read
		c.choices, c.unsent = nil, unsent{}
		c.changed(done)
		c.showWaiting()
	}
	return err
}

func (c *console) listSessions(ctx context.Context, text string) error {
	all, err := c.workspace.Sessions(ctx)
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
		if text == "" {
			return reply("No session has messages yet.")
		}
		return reply("No session with messages has “" + Name(text) + "” in its title or folder.")
	}
	c.numbered("Sessions; /session NUMBER resumes one, /session new starts one:", len(c.sessions), func(i int) string {
		s := c.sessions[i]
		about := []string{assistant.Counted(s.Pairs, "message"), s.Used.Local().Format("2006-01-02 15:04")}
		if s.Folder != "" {
			about = append(about, Name(s.Folder))
		}
		if s.Branch.Parent != "" {
			about = append(about, "branch")
		}
		if s.ID == c.session.ID() {
			about = append(about, "this one")
		}
		return fmt.Sprintf("%s (%s)", Quote(s.Title), strings.Join(about, ", "))
	}, "/session TEXT lists only sessions whose title or folder contains TEXT")
	return nil
}

// model lists the models, or chooses a model by its number, its name, or a unique part of
// its name.
func (c *console) model(ctx context.Context, name string) error {
	list := overlay.ModelsOf(c.session.Registry(), time.Now())
	list.Current = c.session.Model()
	var ids []string
	for _, m := range list.All() {
		ids = append(ids, m.ID)
	}
	var id string
	if _, err := strconv.Atoi(name); err == nil {
		i, err := index(name, len(c.models), "There is no model with that number; /model lists and numbers them.")
		if err != nil {
			return err
		}
		id = c.models[i]
	} else if id, err = keymap.ModelNamed(name, ids); err != nil || name == "" {
		return c.listModels(list, name)
	}
	if err := c.workspace.PickModel(ctx, id); err != nil {
		return err
	}
	c.changed(c.modelText() + " is now in use.")
	return nil
}

func (c *console) listModels(list overlay.ModelList, text string) error {
	c.models = nil
	about := map[string]string{}
	for _, m := range list.All() {
		if !strings.Contains(strings.ToLower(m.ID), strings.ToLower(text)) {
			continue
		}
		c.models = append(c.models, m.ID)
		if m.Gone {
			about[m.ID] = ", " + strings.ReplaceAll(overlay.GoneSince(m), " · ", ", ")
		}
		if m.ID == c.session.Model() {
			about[m.ID] += ", chosen"
		}
	}
	if len(c.models) == 0 {
		return reply("No model is known by that name. /model PROVIDER/NAME chooses one that is not listed.")
	}
	c.numbered("Models; /model NUMBER chooses one:", len(c.models), func(i int) string { return Name(c.models[i]) + about[c.models[i]] },
		"/model TEXT lists only models whose name contains TEXT")
	ages := list.Ages()
	for _, endpoint := range slices.Sorted(maps.Keys(ages)) {
		c.out.Line("The models of " + Name(endpoint) + " were listed " + ages[endpoint] + ".")
	}
	return nil
}

// showStatus prints the state that a screen always shows.
func (c *console) showStatus(context.Context, string) error {
	b := c.session.Boundary()
	_, _, model, _ := c.session.Registry().Open(c.session.Model()) // the zero value if the model no longer exists
	from, about := model.LimitFrom(), ""
	if from != "" {
		from = " (" + from + ")"
	}
	if !b.Known {
		about = "about "
	}
	c.out.Label("Window", c.opts.Title())
	c.out.Line(c.modelText() + ".")
	c.out.Line(c.contextText() + fmt.Sprintf(" The model accepts %s%d tokens%s: %d are for the system prompt and tools, %d for the history, and %d are reserved for the next message.",
		about, b.ML, from, b.SYS, b.HistoryTokens, c.session.Settings().Budget.URA()))
	c.out.Label("Filter", filterName(c.session.Filter()))
	if topic := c.session.Topic(); topic != "" {
		c.out.Label("Topic", topic)
	}
	c.out.Label("Checkpoints", strconv.Itoa(c.session.Changes()))
	c.out.Line(c.unsavedText())
	return nil
}

// contextText returns the context counter as a sentence.
func (c *console) contextText() string {
	return "In context: " + strings.ReplaceAll(c.session.Counter(), "/", " of ") + " messages."
}

func (c *console) modelText() string {
	if id := c.session.Model(); id != "" {
		return "Model " + Name(id)
	}
	return "No model is selected; /model lists the models"
}
