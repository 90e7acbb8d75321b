package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// CarryOut does what a command says. in is the session that is looked at: it
// deletes, and its filter is put in other words when the command takes a name
// away that it is made of. The error may be that of Refused, an *ExistsError, a
// *filter.Error, assistant.ErrBusy, or the database's; nothing has been done
// then.
func (s *Store) CarryOut(ctx context.Context, o Order, in *assistant.Session) (Outcome, error) {
	if err := o.Refused(); err != nil {
		return Outcome{}, err
	}
	if o.DryRun {
		return Outcome{Said: o.Would()}, nil
	}
	out := Outcome{Said: o.done(len(o.Seqs))}
	switch o.Verb {
	case filter.Export:
		return out, s.ExportFile(ctx, o.Path, o.Force, Format(o.Format), ExportOptions{Seqs: append([]int64{}, o.Seqs...)})
	case filter.Delete:
		return out, in.Delete(ctx, o.Seqs...)
	case filter.Save:
		return out, s.SaveFilter(ctx, o.Name, o.Line)
	case filter.Forget:
		return s.forget(ctx, o, in)
	case filter.Filters:
		return s.listFilters(ctx)
	default:
	}
	m, _ := o.mark()
	was, err := s.remark(ctx, o.Seqs, m)
	return Outcome{Said: o.done(len(was)), Undo: was}, err
}

// remark is Mark that returns what the pairs had before.
func (s *Store) remark(ctx context.Context, seqs []int64, m Mark) (was []assistant.PairMark, err error) {
	err = s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		was = make([]assistant.PairMark, 0, len(seqs))
		for _, seq := range seqs {
			had, found, err := c.marksOf(seq)
			if err != nil {
				return err
			}
			if found {
				was = append(was, had.only(seq, m))
			}
		}
		_, err = c.mark(seqs, m)
		return err
	})
	return was, err
}

// only is what m changes of a pair with these marks.
func (had marks) only(seq int64, m Mark) assistant.PairMark {
	p := assistant.PairMark{Seq: seq}
	if m.Star != nil {
		p.Star = &had.star
	}
	if m.Flag != nil {
		p.Flag = &had.flag
	}
	if m.Topic != nil {
		p.Topic = &had.path
	}
	return p
}

// forget takes a saved filter away. A view that it made stays as it is: its
// line is then what the name stood for.
func (s *Store) forget(ctx context.Context, o Order, in *assistant.Session) (Outcome, error) {
	saved, err := s.SavedFilters(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if _, has := saved[o.Name]; !has {
		return Outcome{}, fmt.Errorf("there is no saved filter @%s; :filters lists them", o.Name)
	}
	line, needed := withoutName(in.Filter(), o.Name, saved)
	if err := s.SaveFilter(ctx, o.Name, ""); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Said: o.done(0)}
	if needed {
		in.SetFilter(line)
		out.Said += ", the view stays"
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
func (s *Store) listFilters(ctx context.Context) (Outcome, error) {
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
		out.Said = "no filter is saved; a line with :save NAME saves it"
	}
	return out, nil
}
