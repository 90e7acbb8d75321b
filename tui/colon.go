package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// colon runs a colon command on the pairs that its line selects. What changes
// many of them, or for good, asks first.
func (m *Model) colon(q *filter.Query, refs []assistant.Ref) tea.Cmd {
	c := colonCommand{Command: *q.Command, line: filter.PrintExpr(q.Expr), topic: m.session.Topic(), at: m.now()}
	for _, r := range refs {
		c.seqs = append(c.seqs, r.Seq)
	}
	m.toView()
	if c.Verb == filter.Delete {
		if why, unsafe := filter.UnsafeForDelete(q.Expr); unsafe {
			m.notice.bad(why)
			return nil
		}
	}
	run := func() tea.Cmd { return runColon(m.opts.History, m.session, c) }
	switch {
	case c.DryRun:
		m.notice.say(c.would())
		return nil
	case m.session.Busy() && c.Verb == filter.Delete:
		return m.complain(assistant.ErrBusy)
	case c.Verb == filter.Delete && len(refs) > manyPairs && !c.Force:
		m.notice.bad(fmt.Sprintf("%d pairs: more than %d are deleted only with --force", len(refs), manyPairs))
		return nil
	case c.Verb == filter.SetTopic && !c.NoConfirm && !m.knowsTopic(c.topicPath()):
		return m.ask("There is no topic "+oneLine(c.topicPath())+". Make it?", []string{c.would()}, "make it", run)
	case c.Verb == filter.Delete, c.changesPairs() && len(refs) > manyPairs && !c.NoConfirm:
		return m.ask(c.would(), nil, string(c.Verb), run)
	}
	return run()
}

// manyPairs is how many pairs a command may change without asking.
const manyPairs = 50

// colonCommand is a command with what it acts on.
type colonCommand struct {
	filter.Command
	line  string // the filter before it
	seqs  []int64
	topic string // the selected one
	at    time.Time
}

func (c colonCommand) changesPairs() bool {
	switch c.Verb {
	case filter.SetTopic, filter.Star, filter.FlagOn, filter.FlagOff, filter.Delete:
		return true
	case filter.Export, filter.Save, filter.Forget, filter.Filters:
	}
	return false
}

// would says what the command is about to do.
func (c colonCommand) would() string {
	n := fmt.Sprintf("%d pairs", len(c.seqs))
	switch c.Verb {
	case filter.Delete:
		return "Delete " + n + " for good?"
	case filter.SetTopic:
		return "Move " + n + " to " + topicName(c.topicPath()) + "?"
	case filter.Star:
		return fmt.Sprintf("Give %s %d stars?", n, c.Stars)
	case filter.Export:
		return "export " + n + " to " + c.exportPath()
	case filter.FlagOn, filter.FlagOff, filter.Save, filter.Forget, filter.Filters:
	}
	return ":" + string(c.Verb) + " on " + n
}

func (c colonCommand) topicPath() string {
	if c.Topic != "" {
		return c.Topic
	}
	return c.topic
}

// exportPath is where an export goes when no path was given.
func (c colonCommand) exportPath() string {
	if c.Path != "" {
		return c.Path
	}
	name := "all"
	if c.topic != "" {
		name = strings.Map(func(r rune) rune {
			if strings.ContainsRune(` /\:*?"<>|`, r) {
				return '-'
			}
			return r
		}, c.topic)
	}
	return fmt.Sprintf("winnow-%s-%s.%s", name, c.at.Format("20060102-150405"), c.format())
}

func (c colonCommand) format() string {
	if c.Format == "" {
		return "json"
	}
	return string(c.Format)
}

// runColon carries the command out.
func runColon(h *history.Store, s *assistant.Session, c colonCommand) tea.Cmd {
	return func() tea.Msg {
		said, err := c.run(context.Background(), h, s)
		return commandDoneMsg{said: said, err: err}
	}
}

func (c colonCommand) run(ctx context.Context, h *history.Store, s *assistant.Session) (string, error) {
	yes, no, topic, stars := true, false, c.topicPath(), c.Stars
	mark := history.Mark{}
	switch c.Verb {
	case filter.Export:
		return c.export(ctx, h)
	case filter.Save:
		return "saved as @" + c.Name, h.SaveFilter(ctx, c.Name, c.line)
	case filter.Forget:
		return "@" + c.Name + " is forgotten", h.SaveFilter(ctx, c.Name, "")
	case filter.Filters:
		return listFilters(ctx, h)
	case filter.Delete:
		return fmt.Sprintf("%d pairs deleted", len(c.seqs)), s.Delete(ctx, c.seqs...)
	case filter.SetTopic:
		mark.Topic = &topic
	case filter.Star:
		mark.Star = &stars
	case filter.FlagOn:
		mark.Flag = &yes
	case filter.FlagOff:
		mark.Flag = &no
	}
	n, err := h.Mark(ctx, c.seqs, mark)
	return fmt.Sprintf(":%s on %d pairs", c.Verb, n), err
}

func listFilters(ctx context.Context, h *history.Store) (string, error) {
	saved, err := h.SavedFilters(ctx)
	if err != nil {
		return "", err
	}
	var parts []string
	for name, line := range saved {
		parts = append(parts, "@"+name+" = "+line)
	}
	if len(parts) == 0 {
		return "no filter is saved · a line with :save NAME saves it", nil
	}
	return strings.Join(parts, " · "), nil
}

// export writes the pairs to a file.
func (c colonCommand) export(ctx context.Context, h *history.Store) (string, error) {
	path := c.exportPath()
	err := h.ExportFile(ctx, path, c.Force, history.Format(c.format()), history.ExportOptions{Seqs: c.seqs})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d pairs exported to %s", len(c.seqs), path), nil
}
