package models

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Served is what the proxy serves at one moment, of all providers.
type Served struct {
	IDs     []string // as the proxy writes them, sorted, each once
	At      time.Time
	Dropped int // unusable entries, not in IDs
	models  []model
}

// Drift is the difference between what the proxy serves of a provider and what
// its rules allow. Both lists are sorted.
type Drift struct {
	Missing []string // available by the rules, not served by the proxy
	Extra   []string // served by the proxy, hidden by the rules
	Same    int      // served and available
}

// Any reports whether there is a difference.
func (d Drift) Any() bool { return len(d.Missing)+len(d.Extra) > 0 }

// Served asks the proxy which models it serves. The error is a *FetchError
// that wraps ErrNoProxy when there is none to ask.
func (l *Lists) Served(ctx context.Context) (Served, error) {
	if l.opts.Proxy == nil {
		return Served{}, (Target{}).failed(ErrNoProxy)
	}
	list, dropped, err := l.fetch(ctx, l.opts.Proxy.target())
	if err != nil {
		return Served{}, err
	}
	return Served{IDs: names(list), At: l.opts.Now(), Dropped: dropped, models: list}, nil
}

// Drift asks the proxy and compares what it serves of a provider with what it
// should: expected is given all that it serves, and returns the full ids that the
// rules leave available, those of served among them that nobody else knows. A
// proxy that cannot be asked is an error as of Served, never a drift.
func (l *Lists) Drift(ctx context.Context, provider string, expected func(served ...string) []string) (Drift, error) {
	served, err := l.Served(ctx)
	if err != nil {
		return Drift{}, err
	}
	return served.Drift(provider, expected(served.IDs...)), nil
}

// Drift compares with the full ids expected of a provider, without asking again,
// for several providers in turn.
func (s Served) Drift(provider string, expected []string) Drift {
	provider = providerName(provider)
	have := ids(provider, names(s.of(provider)))
	want := slices.Clone(expected)
	slices.Sort(want)
	want = slices.Compact(want)
	var d Drift
	for i, j := 0, 0; i < len(have) || j < len(want); {
		switch {
		case j == len(want) || i < len(have) && have[i] < want[j]:
			d.Extra = append(d.Extra, have[i])
			i++
		case i == len(have) || want[j] < have[i]:
			d.Missing = append(d.Missing, want[j])
			j++
		default:
			d.Same++
			i, j = i+1, j+1
		}
	}
	return d
}

// of returns the models of one provider, in any case, their names without it.
func (s Served) of(provider string) []model {
	var list []model
	for _, m := range s.models {
		first, name, ok := strings.Cut(m.Name, "/")
		if ok && providerName(first) == provider && usable(name) {
			m.Name = name
			list = append(list, m)
		}
	}
	return tidy(list)
}

// fromProxy fetches a provider's part of the models that the proxy serves.
func (l *Lists) fromProxy(ctx context.Context, provider string) (fetched, error) {
	served, err := l.Served(ctx)
	if err != nil {
		return fetched{}, err
	}
	f := fetched{
		models: served.of(provider), source: SourceProxy, at: served.At,
		base: bare(l.opts.Proxy.BaseURL), partial: true,
	}
	if len(f.models) == 0 {
		t := l.opts.Proxy.target()
		t.Provider = provider
		return fetched{}, t.failed(ErrEmpty)
	}
	return f, nil
}
