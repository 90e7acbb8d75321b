package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/assistant/filter"
)

// ManyPairs is how many pairs a command may change without asking; more are
// deleted only with --force.
const ManyPairs = 50

// KeptOutcomes is how many commands whoever gives them should be able to take
// back: as many as one has in mind, and few enough for the memory of their marks.
const KeptOutcomes = 10

// Order is the :command of a filter line, made ready: what it acts on and all
// that it left open are settled. CarryOut does it.
type Order struct {
	filter.Command         // Path and Topic are what they are without an argument, too
	Line           string  // the filter before the colon; "" is all
	Seqs           []int64 // of the pairs that it selects, in order

	unsafe   string // why deleting them would change what the line means; "" is fine
	newTopic bool   // Topic does not exist yet
}

// Order makes the command of q ready, which must have one. The error is a
// *filter.Error at a saved filter, ctx's, or the database's.
func (s *Store) Order(ctx context.Context, q *filter.Query, env Env) (Order, error) {
	if env.Now.IsZero() {
		env.Now = s.now()
	}
	o := Order{Command: *q.Command, Line: filter.PrintExpr(q.Expr)}
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return o, err
	}
	expr, err := filter.Expand(q, lookUp(saved))
	if err != nil {
		return o, err
	}
	if o.Base {
		expr = filter.Base(expr)
	}
	o.unsafe, _ = filter.UnsafeForDelete(expr)
	r, err := s.Filter(ctx, &filter.Query{Expr: expr}, env)
	if err != nil {
		return o, err
	}
	for _, ref := range r.Refs {
		o.Seqs = append(o.Seqs, ref.Seq)
	}
	return o, s.settle(ctx, &o, env)
}

// settle fills in what the command left open.
func (s *Store) settle(ctx context.Context, o *Order, env Env) error {
	switch o.Verb {
	case filter.Export:
		if o.Path == "" {
			o.Path = ExportPath(env.SelectedTopic, o.Format, env.Now)
		}
		o.Path = fromHome(o.Path)
	case filter.SetTopic:
		if o.Topic == "" {
			o.Topic = env.SelectedTopic
		}
		o.Topic = strings.Join(splitTopic(o.Topic), TopicSeparator)
		paths, err := s.TopicPaths(ctx)
		if err != nil {
			return err
		}
		o.newTopic = o.Topic != "" && !slices.Contains(paths, o.Topic)
	default:
	}
	return nil
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
func (o Order) Changes() bool {
	switch o.Verb {
	case filter.SetTopic, filter.Star, filter.FlagOn, filter.FlagOff, filter.Delete:
		return true
	default:
		return false
	}
}

// Refused says why the command cannot be carried out; nil when it can.
func (o Order) Refused() error {
	switch {
	case len(o.Seqs) == 0 && (o.Changes() || o.Verb == filter.Export):
		return fmt.Errorf("no pair matches: there is nothing to %s", o.verb())
	case o.Verb == filter.Save && o.Line == "":
		return fmt.Errorf("there is nothing to save: write a filter before :save %s", o.Name)
	case o.Verb != filter.Delete:
		return nil
	case o.unsafe != "":
		return errors.New(o.unsafe)
	case len(o.Seqs) > ManyPairs && !o.Force && !o.DryRun:
		return fmt.Errorf("%s: more than %d are deleted only with --force", o.pairs(), ManyPairs)
	}
	return nil
}

// Question is what to ask before the command is carried out; "" is nothing.
// A second line, where there is one, says what would be done besides.
func (o Order) Question() (title string, more []string) {
	switch {
	case o.DryRun:
	case o.Verb == filter.SetTopic && o.newTopic && !o.NoConfirm:
		return "There is no topic " + o.Topic + ". Make it?", []string{first(o.does()) + "."}
	case o.Verb == filter.Delete:
		return first(o.does()) + " for good?", nil
	case o.Changes() && len(o.Seqs) > ManyPairs && !o.NoConfirm:
		return first(o.does()) + "?", nil
	}
	return "", nil
}

// Would says what the command would do, for --dry-run.
func (o Order) Would() string { return "would " + o.does() }

// does says what the command does, as in "star 2 pairs".
func (o Order) does() string {
	switch o.Verb {
	case filter.Delete, filter.FlagOn, filter.FlagOff:
		return string(o.Verb) + " " + o.pairs()
	case filter.SetTopic:
		return "move " + o.pairs() + " to " + topicName(o.Topic)
	case filter.Star:
		return "give " + o.pairs() + " " + stars(o.Stars)
	case filter.Export:
		return "export " + o.pairs() + " to " + o.Path
	case filter.Save:
		return "save the line as @" + o.Name
	case filter.Forget:
		return "forget @" + o.Name
	case filter.Filters:
	}
	return "list the saved filters"
}

// done says what the command has done to n pairs.
func (o Order) done(n int) string {
	have := "have"
	if n == 1 {
		have = "has"
	}
	switch o.Verb {
	case filter.Delete:
		return Pairs(n) + " deleted"
	case filter.FlagOn:
		return Pairs(n) + " flagged"
	case filter.FlagOff:
		return Pairs(n) + " unflagged"
	case filter.SetTopic:
		return Pairs(n) + " moved to " + topicName(o.Topic)
	case filter.Star:
		return Pairs(n) + " now " + have + " " + stars(o.Stars)
	case filter.Export:
		return Pairs(n) + " exported to " + o.Path
	case filter.Save:
		return "saved as @" + o.Name
	case filter.Forget:
		return "@" + o.Name + " is forgotten"
	case filter.Filters:
	}
	return ""
}

// verb is what the command does to pairs, in a word.
func (o Order) verb() string {
	switch o.Verb {
	case filter.SetTopic:
		return "move"
	default:
		return string(o.Verb)
	}
}

func (o Order) pairs() string { return Pairs(len(o.Seqs)) }

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

// first makes the first letter a capital one.
func first(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// mark is what the command sets; ok is false for one that sets nothing.
func (o Order) mark() (m Mark, ok bool) {
	yes, no := true, false
	switch o.Verb {
	case filter.SetTopic:
		m.Topic = &o.Topic
	case filter.Star:
		m.Star = &o.Stars
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
	Said    string        // a clause; "" when Filters says it
	Filters []SavedFilter // that there are, of :filters

	back *back // for TakeBack; nil: nothing to undo
}

// SavedFilter is a line that was saved under a name.
type SavedFilter struct{ Name, Line string }
