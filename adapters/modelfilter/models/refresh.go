package models

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant/safetext"
)

// refresh asks the provider, else the proxy.
func (l *Lists) refresh(ctx context.Context, provider string) (List, error) {
	f, err := l.ask(ctx, provider)
	if err != nil {
		l.log.Warn("models not fetched", "provider", provider, "err", err)
		return l.stale(provider, err), err
	}
	list, err := l.accept(ctx, provider, f)
	if err != nil {
		return l.stale(provider, err), err
	}
	return list, nil
}

// ask fetches a list. The proxy is asked in place of a provider that failed only
// when there is no stored list to use, or when that came from the proxy too.
func (l *Lists) ask(ctx context.Context, provider string) (fetched, error) {
	t, ok, err := l.own(provider)
	if ok {
		var f fetched
		if f.models, f.dropped, err = l.fetch(ctx, t); err == nil {
			f.source, f.base, f.at = SourceLive, bare(t.BaseURL), l.opts.Now()
			f.partial = t.page > 0 && len(f.models)+f.dropped >= t.page
			return f, nil
		}
	}
	cached, _ := l.Cached(provider)
	switch {
	case err == nil && ctx.Err() != nil:
		return fetched{}, ctx.Err()
	case ctx.Err() != nil:
		return fetched{}, err
	case err != nil && (l.opts.Proxy == nil || cached.Source != SourceCatalogue && !l.cameFromProxy(provider)):
		return fetched{}, err
	case l.opts.Proxy == nil:
		return fetched{}, (Target{Provider: provider}).failed(ErrNoSource)
	}
	f, proxyErr := l.fromProxy(ctx, provider)
	switch {
	case proxyErr == nil:
		f.note = err
		return f, nil
	case err == nil:
		return fetched{}, proxyErr
	}
	return fetched{}, fmt.Errorf("%w; %w", err, proxyErr)
}

// cameFromProxy reports whether the stored list of a provider came from the proxy.
func (l *Lists) cameFromProxy(provider string) bool {
	e := l.entry(provider)
	l.mu.Lock()
	defer l.mu.Unlock()
	return e.record != nil && e.record.Source == SourceProxy
}

// accept stores f, in memory and on disk, unless it is implausible.
func (l *Lists) accept(ctx context.Context, provider string, f fetched) (List, error) {
	plausible := false
	stored, err := l.update(ctx, provider, func(r *record) { plausible = r.apply(f) })
	if !plausible {
		return List{}, (Target{Provider: provider, BaseURL: f.base}).failed(ErrDoubtful)
	}
	e := l.entry(provider)
	l.mu.Lock()
	e.live = true
	l.mu.Unlock()
	list := l.list(provider, &entry{record: stored, live: true})
	list.Dropped = f.dropped
	if why := errors.Join(f.note, err); why != nil {
		list.Err = safetext.Line(why.Error(), maxReason)
	}
	return list, nil
}

// update changes the stored list of a provider. The one on disk comes first:
// another process may have written it. The error is the disk's; memory has
// the change in any case.
func (l *Lists) update(ctx context.Context, provider string, change func(*record)) (*record, error) {
	e := l.entry(provider)
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	base, unsaved := e.record, e.unsaved
	l.mu.Unlock()
	if base == nil {
		base = &record{Provider: provider}
	}
	r, err := l.disk.update(ctx, base, unsaved, change)
	l.mu.Lock()
	defer l.mu.Unlock()
	e.record, e.unsaved, e.diskErr = r, err != nil, ""
	if err != nil {
		l.log.Warn("models not saved", "provider", provider, "err", err)
		e.diskErr = safetext.Line(err.Error(), maxReason)
	}
	return r, err
}
