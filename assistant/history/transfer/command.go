package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// ManyPairs is the number of pairs above which a command asks for confirmation and a deletion requires --force.
const ManyPairs = 50

// maxQuotedCells is the maximum width, in terminal cells, of a text quoted in a question.
const maxQuotedCells = 60

// MaxUndo is the number of commands that a user interface should be able to undo.
const MaxUndo = 10

// Command is the :command of a filter line, with all defaults filled in.
type Command struct {
	filter.Command         // Path and Topic are filled in
	Line           string  // the filter before the colon; "" matches all pairs
	Seqs           []int64 // the pairs that the filter matches, in order

	// The caller sets Texts, the texts of the first MaxTexts pairs, and Elsewhere, the number of pairs that are not in the
	// current session, for the question before a deletion.
	Texts     []string
	Elsewhere int

	unsafe   string // why a deletion must not use the filter, or ""
	newTopic bool   // Topic does not exist yet
}

// commandStore is the part of the store that Prepare needs.
type commandStore interface {
	history.Searcher
	history.Topics
}

// Prepare returns the command of q, which must have one, with the pairs that the filter matches. The error is a
// *filter.Error if a saved filter in the line cannot be used; otherwise it is the error of ctx or of the store.
func Prepare(ctx context.Context, s commandStore, q *filter.Query, env history.Env) (Command, error) {
	if env.Now.IsZero() {
		env.Now = time.Now()
	}
	c := Command{Command: *q.Command, Line: filter.PrintExpr(q.Expr)}
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return c, err
	}
	expr, err := filter.Expand(q, history.Lookup(saved))
	if err != nil {
		return c, err
	}
	if c.Base {
		expr = filter.Base(expr)
	}
	c.unsafe = filter.UnsafeForDelete(expr)
	r, err := s.Filter(ctx, &filter.Query{Expr: expr}, env)
	for _, ref := range r.Refs {
		c.Seqs = append(c.Seqs, ref.Seq)
	}
	switch {
	case err != nil:
	case c.Verb == filter.Export:
		if c.Path == "" {
			c.Path = ExportPath(env.SelectedTopic, c.Format, env.Now)
		}
		if rest, short := strings.CutPrefix(c.Path, "~/"); short { // a path in a filter line is not expanded by a shell
			if home, err := os.UserHomeDir(); err == nil {
				c.Path = filepath.Join(home, rest)
			}
		}
	case c.Verb == filter.SetTopic:
		if c.Topic == "" {
			c.Topic = env.SelectedTopic
		}
		c.Topic = history.TopicPath(c.Topic)
		var paths []string
		paths, err = s.TopicPaths(ctx)
		c.newTopic = c.Topic != "" && !slices.Contains(paths, c.Topic)
	}
	return c, err
}

// ExportPath returns the default file name of an export. It does not name the filter: the export
// may contain a single message.
func ExportPath(topic, format string, at time.Time) string {
	name := "messages"
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

// Changes reports whether the command changes pairs.
func (c Command) Changes() bool {
	return slices.Contains([]filter.Verb{filter.SetTopic, filter.Star, filter.FlagOn, filter.FlagOff, filter.Delete}, c.Verb)
}

// Refused returns the reason why the command cannot be executed, or nil.
func (c Command) Refused() error {
	switch {
	case len(c.Seqs) == 0 && (c.Changes() || c.Verb == filter.Export):
		verb, _, _ := strings.Cut(string(c.Describe()), " ")
		if c.Verb == filter.Star {
			verb = "rate"
		}
		return fmt.Errorf("no message matches: there is nothing to %s", verb)
	case c.Verb == filter.Save && c.Line == "":
		return fmt.Errorf("there is nothing to save: write a filter before :save %s", c.Name)
	case c.Verb != filter.Delete:
		return nil
	case c.unsafe != "":
		return errors.New(c.unsafe)
	case len(c.Seqs) > ManyPairs && !c.Force && !c.DryRun:
		return fmt.Errorf("%s match: deleting more than %d requires --force", assistant.Counted(len(c.Seqs), "message"), ManyPairs)
	}
	return nil
}

// MaxTexts is the maximum number of texts that the question before a deletion quotes.
const MaxTexts = 3

// Question returns the question to ask the user before Execute, and lines that describe what the command affects. If
// title is "", there is nothing to ask. Both results can safely be displayed.
func (c Command) Question() (title safetext.Text, lines []string) {
	does := assistant.UpperFirst(c.Describe())
	switch {
	case c.DryRun:
	case c.Verb == filter.SetTopic && c.newTopic && !c.NoConfirm:
		return safetext.Sprintf("There is no topic %s. Create it?", c.Topic), []string{string(does + ".")}
	case c.Verb == filter.Delete:
		return does + " for good?", c.quoted()
	case c.Changes() && len(c.Seqs) > ManyPairs && !c.NoConfirm:
		return does + "?", nil
	}
	return "", nil
}

// quoted quotes Texts, and describes what is deleted with the pairs and how many pairs are in other sessions.
func (c Command) quoted() (lines []string) {
	for _, text := range c.Texts {
		lines = append(lines, string("“"+safetext.Line(text, maxQuotedCells)+"”"))
	}
	if more := len(c.Seqs) - len(lines); more > 0 && len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	goes := "All their answers are deleted too."
	if len(c.Seqs) == 1 {
		goes = "All its answers are deleted too."
	}
	lines = append(lines, goes)
	switch {
	case c.Elsewhere == 0:
	case len(c.Seqs) == 1:
		lines = append(lines, "The message is not in this session.")
	case c.Elsewhere == len(c.Seqs):
		lines = append(lines, "None of them is in this session.")
	case c.Elsewhere == 1:
		lines = append(lines, "1 of them is in another session.")
	default:
		lines = append(lines, fmt.Sprintf("%d of them are in other sessions.", c.Elsewhere))
	}
	return lines
}

// sentence describes a command before and after its execution.
type sentence struct{ does, done string }

// sentences contains the sentence of each command.
var sentences = map[filter.Verb]sentence{
	filter.Delete:   {"delete {pairs}", "{pairs} deleted"},
	filter.FlagOn:   {"flag {pairs}", "{pairs} flagged"},
	filter.FlagOff:  {"unflag {pairs}", "{pairs} unflagged"},
	filter.SetTopic: {"move {pairs} to {topic}", "{pairs} moved to {topic}"},
	filter.Star:     {"give {pairs} {stars}", "{pairs} now {have} {stars}"},
	filter.Export:   {"export {pairs} to {path}", "{pairs} exported to {path}"},
	filter.Save:     {"save the line as @{name}", "saved as @{name}"},
	filter.Forget:   {"forget @{name}", "@{name} is forgotten"},
	filter.Filters:  {"list the saved filters", ""},
}

// clearTopic replaces the sentence of filter.SetTopic if the topic is the root.
var clearTopic = sentence{"clear the topic of {pairs}", "{pairs} now {have} no topic"}

func (c Command) sentence() sentence {
	if c.Verb == filter.SetTopic && c.Topic == "" {
		return clearTopic
	}
	return sentences[c.Verb]
}

// Describe returns what the command would do, such as "flag 2 messages".
func (c Command) Describe() safetext.Text { return c.fill(c.sentence().does, len(c.Seqs)) }

// describeDone returns what the command has done to n pairs.
func (c Command) describeDone(n int) safetext.Text { return c.fill(c.sentence().done, n) }

func (c Command) fill(text string, n int) safetext.Text {
	have, stars := "have", assistant.Counted(c.Stars, "star")
	if n == 1 {
		have = "has"
	}
	if c.Stars == 0 {
		stars = "no stars"
	}
	names := strings.NewReplacer("{pairs}", assistant.Counted(n, "message"), "{have}", have, "{topic}", c.Topic, "{stars}", stars, "{path}", c.Path, "{name}", c.Name)
	return safetext.Visible(names.Replace(text))
}

// Outcome is the result of an executed command.
type Outcome struct {
	Text    safetext.Text // what was done, as a clause; "" if there are Filters
	Filters []SavedFilter // the result of :filters, sorted by name

	before history.Snapshot // for Undo
}

// SavedFilter is a line saved under a name.
type SavedFilter struct{ Name, Line string }

// CanUndo reports whether Undo can undo the command.
func (o Outcome) CanUndo() bool { return len(o.before.Marks)+len(o.before.Filters) > 0 }

// Undone describes, as a clause, what Undo has done.
func (o Outcome) Undone() safetext.Text {
	for name, line := range o.before.Filters {
		if line == "" {
			return safetext.Sprintf("@%s removed", name)
		}
		return safetext.Sprintf("@%s restored", name)
	}
	return safetext.Sprintf("%s restored", assistant.Counted(len(o.before.Marks), "message"))
}

// Undo undoes a command in one transaction: it restores marks and saved filters, and removes the topics that the command
// created, if they are empty.
func Undo(ctx context.Context, s history.Marks, o Outcome) error {
	if !o.CanUndo() {
		return nil
	}
	return s.Restore(ctx, o.before)
}

// Execute executes a command. session is the open session: it performs deletions, and if the command removes a saved
// filter, the saved filters in the session's own filter are expanded. The error may be the one from Refused, an
// fs.ErrExist, a *filter.Error, assistant.ErrBusy, or an error of the store; in each case nothing has changed.
func Execute(ctx context.Context, s history.Store, c Command, session *assistant.Session) (Outcome, error) {
	if err := c.Refused(); err != nil {
		return Outcome{}, err
	}
	if c.DryRun {
		return Outcome{Text: "would " + c.Describe()}, nil
	}
	yes, no := true, false
	var before history.Snapshot
	var err error
	n := len(c.Seqs)
	mark := func(m history.Mark) {
		before, err = s.Mark(ctx, c.Seqs, m)
		n = len(before.Marks)
	}
	switch c.Verb {
	case filter.Export:
		err = ExportFile(ctx, s, c.Path, Format(c.Format), ExportOptions{Seqs: append([]int64{}, c.Seqs...), Overwrite: c.Force})
	case filter.Delete:
		err = session.Delete(ctx, c.Seqs...)
	case filter.SetTopic:
		mark(history.Mark{Topic: &c.Topic})
	case filter.Star:
		mark(history.Mark{Star: &c.Stars})
	case filter.FlagOn:
		mark(history.Mark{Flag: &yes})
	case filter.FlagOff:
		mark(history.Mark{Flag: &no})
	default:
		return executeSaved(ctx, s, c, session)
	}
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Text: c.describeDone(n), before: before}, nil
}

// executeSaved executes a command about saved filters. Removing a saved filter does not change the view, because the
// session's filter is expanded.
func executeSaved(ctx context.Context, s history.Searcher, c Command, session *assistant.Session) (Outcome, error) {
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return Outcome{}, err
	}
	was := saved[c.Name]
	out := Outcome{Text: c.describeDone(0), before: history.Snapshot{Filters: map[string]string{c.Name: was}}}
	switch {
	case c.Verb == filter.Filters:
		out = Outcome{}
		for _, name := range slices.Sorted(maps.Keys(saved)) {
			out.Filters = append(out.Filters, SavedFilter{name, saved[name]})
		}
		if len(saved) == 0 {
			out.Text = "there are no saved filters; add :save NAME to a line to save it"
		}
		return out, nil
	case c.Verb == filter.Save:
		if was != "" && was != c.Line {
			out.Text += safetext.Sprintf("; the previous line was %s", was)
		}
		err = s.SaveFilter(ctx, c.Name, c.Line)
	case was == "":
		return Outcome{}, fmt.Errorf("there is no saved filter @%s; :filters lists the saved filters", c.Name)
	default:
		if err = s.SaveFilter(ctx, c.Name, ""); err == nil && strings.Contains(session.Filter(), "@") {
			session.ReplaceFilterLine(expandLine(session.Filter(), saved))
			out.Text += "; the view is unchanged"
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	return out, nil
}

// expandLine replaces the names of saved filters in a line with their expressions. It returns an invalid line unchanged.
func expandLine(line string, saved map[string]string) string {
	q, err := filter.Parse(line)
	if err != nil {
		return line
	}
	expr, err := filter.Expand(q, history.Lookup(saved))
	if err != nil {
		return line
	}
	return filter.PrintExpr(expr)
}

// ReadsMarks reports whether a line depends on the marks of pairs: stars, flag or topic. A line that uses a saved
// filter counts as depending on marks.
func ReadsMarks(line string) (reads bool) {
	q, err := filter.Parse(line)
	if err != nil || q.Expr == nil {
		return false
	}
	filter.Walk(q.Expr, func(x filter.Expr) {
		switch x.(type) {
		case filter.Stars, filter.Flag, filter.Topic, filter.TopicSelected, filter.TopicLast, filter.Saved:
			reads = true
		default:
		}
	})
	return reads
}
