package history

import (
	"errors"
	"fmt"
	"slices"

	"winnow/assistant"
)

// CheckPair returns an error if p could not be loaded again exactly as it was stored.
func CheckPair(p *assistant.Pair) error {
	all, _ := p.Answers()
	ids := map[string]bool{}
	for _, v := range all {
		switch {
		case v.State != "" && !slices.Contains(states, v.State):
			return fmt.Errorf("unknown state %q", v.State)
		case ids[v.ID]:
			return fmt.Errorf("two answers with the id %q", v.ID)
		case v.At.Year() < 0 || v.At.Year() > 9999:
			return fmt.Errorf("the year %d cannot be written as RFC 3339", v.At.Year())
		}
		ids[v.ID] = true
	}
	switch {
	case p.Chosen < 0 || p.Chosen > len(p.Variants):
		return fmt.Errorf("the chosen answer must be 1 to %d, not %d", len(all), p.Chosen+1)
	case p.Star < 0 || p.Star > MaxStar:
		return fmt.Errorf("stars must be 0 to %d, not %d", MaxStar, p.Star)
	case p.CreatedAt.Year() < 0 || p.CreatedAt.Year() > 9999:
		return fmt.Errorf("the year %d cannot be written as RFC 3339", p.CreatedAt.Year())
	}
	for _, f := range p.Attachments {
		if err := f.Check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckBatch returns an error if a pair or mark in b could not be loaded again exactly as it was stored.
func CheckBatch(b *assistant.Batch) error {
	var faults []error
	check := func(p *assistant.Pair) {
		if err := CheckPair(p); err != nil {
			faults = append(faults, fmt.Errorf("message %s: %w", p.ID, err))
		}
	}
	for _, p := range b.Put {
		check(p)
	}
	if b.Cancelled != nil {
		check(b.Cancelled)
	}
	for _, m := range b.Marks {
		faults = append(faults, CheckStar(m.Star))
	}
	return errors.Join(faults...)
}

// CheckStar returns an error for a rating that is out of range; nil is valid.
func CheckStar(star *int) error {
	if star != nil && (*star < 0 || *star > MaxStar) {
		return fmt.Errorf("stars must be 0 to %d, not %d", MaxStar, *star)
	}
	return nil
}
