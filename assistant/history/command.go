package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// ManyPairs is how many pairs a command may change without asking; more are
// deleted only with --force.
const ManyPairs = 50

// MaxUndo is how many commands a user interface should be able to undo: as many
// as one has in mind, and few enough for the memory of their marks.
const MaxUndo = 10

// Command is the :command of a filter line, made ready: what it acts on and all
// that it left open are filled in. Execute does it.
type Command struct {
	filter.Command         // Path and Topic are filled in
	Line           string  // the filter before the colon; "" is all
	Seqs           []int64 // of the pairs that it selects, in order

	unsafe   string // why deleting them would change what the line means; "" is fine
	newTopic bool   // Topic does not exist yet
}

// Prepare makes the command of q ready, which must have one. The error is a
// *filter.Error at a saved filter, ctx's, or the database's.
func Prepare(ctx context.Context, s Store, q *filter.Query, env Env) (Command, error) {
	if env.Now.IsZero() {
		env.Now = time.Now()
	}
	c := Command{Command: *q.Command, Line: filter.PrintExpr(q.Expr)}
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return c, err
	}
	expr, err := filter.Expand(q, lookUp(saved))
	if err != nil {
		return c, err
	}
	if c.Base {
		expr = filter.Base(expr)
	}
	c.unsafe, _ = filter.UnsafeForDelete(expr)
	r, err := s.Filter(ctx, &filter.Query{Expr: expr}, env)
	if err != nil {
		return c, err
	}
	for _, ref := range r.Refs {
		c.Seqs = append(c.Seqs, ref.Seq)
	}
	switch c.Verb {
	case filter.Export:
		if c.Path == "" {
			c.Path = ExportPath(env.SelectedTopic, c.Format, env.Now)
		}
		c.Path = fromHome(c.Path)
	case filter.SetTopic:
		if c.Topic == "" {
			c.Topic = env.SelectedTopic
		}
		c.Topic = TopicPath(c.Topic)
		paths, err := s.TopicPaths(ctx)
		c.newTopic = c.Topic != "" && !slices.Contains(paths, c.Topic)
		return c, err
	default:
	}
	return c, nil
}

// fromHome is a path with the user's folder in the place of a ~ that begins it:
// here no shell has put it in.
func fromHome(path string) string {
	rest, short := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !short || err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// ExportPath is the file of an export that names none.
func ExportPath(topic, format string, at time.Time) string {
	name := "all"
	if topic != "" {
		name = strings.Map(func(r rune) rune {
			if strings.ContainsRune(` /\:*?"<>|`, r) {
				return '-'
			}
			return r
		}, topic)
	}
	return fmt.Sprintf("winnow-%s-%s.%s", name, at.Format("20060102-150405"), format)
}

// Changes says whether the command changes pairs.
func (c Command) Changes() bool {
	switch c.Verb {
	case filter.SetTopic, filter.Star, filter.FlagOn, filter.FlagOff, filter.Delete:
		return true
	default:
		return false
	}
}

// Refused says why the command cannot be carried out; nil when it can.
func (c Command) Refused() error {
	switch {
	case len(c.Seqs) == 0 && (c.Changes() || c.Verb == filter.Export):
		return fmt.Errorf("no pair matches: there is nothing to %s", c.verb())
	case c.Verb == filter.Save && c.Line == "":
		return fmt.Errorf("there is nothing to save: write a filter before :save %s", c.Name)
	case c.Verb != filter.Delete:
		return nil
	case c.unsafe != "":
		return errors.New(c.unsafe)
	case len(c.Seqs) > ManyPairs && !c.Force && !c.DryRun:
		return fmt.Errorf("%s: more than %d are deleted only with --force", c.pairs(), ManyPairs)
	}
	return nil
}

// Confirmation is what a user should confirm before a command is executed.
type Confirmation int

// What there is to confirm.
const (
	ConfirmNothing  Confirmation = iota
	ConfirmNewTopic              // the topic does not exist yet and is created
	ConfirmDelete                // deleting cannot be undone
	ConfirmMany                  // more than ManyPairs pairs change
)

// Confirm says what to ask the user before Execute.
func (c Command) Confirm() Confirmation {
	switch {
	case c.DryRun:
	case c.Verb == filter.SetTopic && c.newTopic && !c.NoConfirm:
		return ConfirmNewTopic
	case c.Verb == filter.Delete:
		return ConfirmDelete
	case c.Changes() && len(c.Seqs) > ManyPairs && !c.NoConfirm:
		return ConfirmMany
	}
	return ConfirmNothing
}

// Does says what the command does, as in "flag 2 pairs".
func (c Command) Does() string {
	switch c.Verb {
	case filter.Delete, filter.FlagOn, filter.FlagOff:
		return string(c.Verb) + " " + c.pairs()
	case filter.SetTopic:
		return "move " + c.pairs() + " to " + topicName(c.Topic)
	case filter.Star:
		return "give " + c.pairs() + " " + stars(c.Stars)
	case filter.Export:
		return "export " + c.pairs() + " to " + c.Path
	case filter.Save:
		return "save the line as @" + c.Name
	case filter.Forget:
		return "forget @" + c.Name
	case filter.Filters:
	}
	return "list the saved filters"
}

// done says what the command has done to n pairs.
func (c Command) done(n int) string {
	have := "have"
	if n == 1 {
		have = "has"
	}
	switch c.Verb {
	case filter.Delete:
		return Pairs(n) + " deleted"
	case filter.FlagOn:
		return Pairs(n) + " flagged"
	case filter.FlagOff:
		return Pairs(n) + " unflagged"
	case filter.SetTopic:
		return Pairs(n) + " moved to " + topicName(c.Topic)
	case filter.Star:
		return Pairs(n) + " now " + have + " " + stars(c.Stars)
	case filter.Export:
		return Pairs(n) + " exported to " + c.Path
	case filter.Save:
		return "saved as @" + c.Name
	case filter.Forget:
		return "@" + c.Name + " is forgotten"
	case filter.Filters:
	}
	return ""
}

// verb is what the command does to pairs, in a word.
func (c Command) verb() string {
	switch c.Verb {
	case filter.SetTopic:
		return "move"
	default:
		return string(c.Verb)
	}
}

func (c Command) pairs() string { return Pairs(len(c.Seqs)) }

// Pairs says a number of pairs.
func Pairs(n int) string {
	if n == 1 {
		return "1 pair"
	}
	return fmt.Sprintf("%d pairs", n)
}

// stars says a number of stars.
func stars(n int) string {
	switch n {
	case 0:
		return "no stars"
	case 1:
		return "1 star"
	}
	return fmt.Sprintf("%d stars", n)
}

func topicName(path string) string {
	if path == "" {
		return "no topic"
	}
	return path
}

// mark is what the command sets; ok is false for one that sets nothing.
func (c Command) mark() (m Mark, ok bool) {
	yes, no := true, false
	switch c.Verb {
	case filter.SetTopic:
		m.Topic = &c.Topic
	case filter.Star:
		m.Star = &c.Stars
	case filter.FlagOn:
		m.Flag = &yes
	case filter.FlagOff:
		m.Flag = &no
	default:
		return m, false
	}
	return m, true
}

// Outcome is what a command has done.
type Outcome struct {
	Text    string        // a clause; "" when Filters says it
	Filters []SavedFilter // that there are, of :filters

	before Restored // for Undo
}

// SavedFilter is a line that was saved under a name.
type SavedFilter struct{ Name, Line string }

// CanUndo says whether Undo can take back what was done.
func (o Outcome) CanUndo() bool { return len(o.before.Marks)+len(o.before.Filters) > 0 }

// Undone says what Undo has done, as a clause.
func (o Outcome) Undone() string {
	for name := range o.before.Filters {
		return "@" + name + " is as before"
	}
	if len(o.before.Marks) == 1 {
		return "1 pair is as before"
	}
	return Pairs(len(o.before.Marks)) + " are as before"
}

// Undo takes back what a command has done, in one transaction: pairs get back
// the marks that they had, topics that were created for them go unless something
// else is in them by now, and saved filters are as they were.
func Undo(ctx context.Context, s Store, o Outcome) error {
	if !o.CanUndo() {
		return nil
	}
	return s.Restore(ctx, o.before)
}

// Execute does what a command says. in is the session that is looked at: it
// deletes, and its filter is put in other words when the command takes a name
// away that it is made of. The error may be that of Refused, an *ExistsError, a
// *filter.Error, assistant.ErrBusy, or the database's; nothing has been done
// then.
func Execute(ctx context.Context, s Store, c Command, in *assistant.Session) (Outcome, error) {
	if err := c.Refused(); err != nil {
		return Outcome{}, err
	}
	if c.DryRun {
		return Outcome{Text: "would " + c.Does()}, nil
	}
	out := Outcome{Text: c.done(len(c.Seqs))}
	switch c.Verb {
	case filter.Export:
		return out, ExportFile(ctx, s, c.Path, c.Force, Format(c.Format), ExportOptions{Seqs: append([]int64{}, c.Seqs...)})
	case filter.Delete:
		return out, in.Delete(ctx, c.Seqs...)
	case filter.Save:
		return saveFilter(ctx, s, c, out)
	case filter.Forget:
		return forget(ctx, s, c, in)
	case filter.Filters:
		return listFilters(ctx, s)
	default:
	}
	m, _ := c.mark()
	before, err := s.Mark(ctx, c.Seqs, m)
	return Outcome{Text: c.done(len(before.Marks)), before: before}, err
}

// saveFilter stores the line of a command under its name.
func saveFilter(ctx context.Context, s Store, c Command, out Outcome) (Outcome, error) {
	saved, err := s.SavedFilters(ctx)
	if err == nil {
		err = s.SaveFilter(ctx, c.Name, c.Line)
	}
	if err != nil {
		return Outcome{}, err
	}
	if was := saved[c.Name]; was != "" && was != c.Line {
		out.Text += ", which was " + was
	}
	out.before = Restored{Filters: map[string]string{c.Name: saved[c.Name]}}
	return out, nil
}

// forget takes a saved filter away. A view that it made stays as it is: its
// line is then what the name stood for.
func forget(ctx context.Context, s Store, c Command, in *assistant.Session) (Outcome, error) {
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if _, has := saved[c.Name]; !has {
		return Outcome{}, fmt.Errorf("there is no saved filter @%s; :filters lists them", c.Name)
	}
	line, needed := withoutName(in.Filter(), c.Name, saved)
	if err := s.SaveFilter(ctx, c.Name, ""); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Text: c.done(0), before: Restored{Filters: map[string]string{c.Name: saved[c.Name]}}}
	if needed {
		in.SetFilter(line)
		out.Text += ", the view stays"
	}
	return out, nil
}

// withoutName is the line with its saved filters written out, when one of
// them is name or leads to it.
func withoutName(line, name string, saved map[string]string) (written string, needed bool) {
	q, err := filter.Parse(line)
	if err != nil || q.Expr == nil {
		return line, false
	}
	asked := lookUp(saved)
	expr, err := filter.Expand(q, func(n string) (string, bool) {
		needed = needed || n == name
		return asked(n)
	})
	if err != nil || !needed {
		return line, false
	}
	return filter.PrintExpr(expr), true
}

// listFilters lists the saved filters by name.
func listFilters(ctx context.Context, s Store) (Outcome, error) {
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{}
	for name, line := range saved {
		out.Filters = append(out.Filters, SavedFilter{name, line})
	}
	slices.SortFunc(out.Filters, func(a, b SavedFilter) int { return cmp.Compare(a.Name, b.Name) })
	if len(out.Filters) == 0 {
		out.Text = "no filter is saved; a line with :save NAME saves it"
	}
	return out, nil
}
