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
		was, err := s.saveFilter(ctx, o.Name, o.Line)
		if was != "" && was != o.Line {
			out.Said += ", which was " + was
		}
		out.back = &back{filters: map[string]string{o.Name: was}}
		return out, err
	case filter.Forget:
		return s.forget(ctx, o, in)
	case filter.Filters:
		return s.listFilters(ctx)
	default:
	}
	m, _ := o.mark()
	was, err := s.remark(ctx, o.Seqs, m)
	return Outcome{Said: o.done(len(was.marks)), back: &was}, err
}

// remark is Mark that returns the way back.
func (s *Store) remark(ctx context.Context, seqs []int64, m Mark) (was back, err error) {
	err = s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		was = back{marks: make([]assistant.PairMark, 0, len(seqs))}
		if m.Topic != nil {
			if was.topics, err = c.lacking(*m.Topic); err != nil {
				return err
			}
		}
		for _, seq := range seqs {
			had, found, err := c.marksOf(seq)
			if err != nil {
				return err
			}
			if found {
				was.marks = append(was.marks, had.only(seq, m))
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
	was, err := s.saveFilter(ctx, o.Name, "")
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Said: o.done(0), back: &back{filters: map[string]string{o.Name: was}}}
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
