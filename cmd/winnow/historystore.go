package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/postgres"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/safetext"
	"winnow/tui"
)

// openHistory opens the store of pairs at the first call: the file of this user, or
// the database of the setting history.
func (a *app) openHistory(ctx context.Context) (history.Store, error) {
	if a.store != nil {
		return a.store, nil
	}
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	store, err := a.openStore(ctx, s.History)
	if err != nil {
		return nil, err
	}
	a.store = store
	a.onClose(store.Close)
	a.sayReport(store.Report())
	return store, nil
}

// openStore opens the store at an address of PostgreSQL; "" is the file.
func (a *app) openStore(ctx context.Context, address string) (history.Store, error) {
	if address == "" {
		h, err := a.folders()
		if err != nil {
			return nil, err
		}
		return sqlite.Open(ctx, h.History(), sqlite.Options{Log: a.logger(), Redact: a.redactor.Redact, OnDamage: func(d *history.DamageError) {
			a.logger().Error("history is damaged", "error", d)
		}})
	}
	password, err := a.settings.HistoryPassword.Resolve(ctx, a.environ)
	if err != nil {
		return nil, fmt.Errorf("history_password: %w", err)
	}
	if password != "" {
		a.redactor.Add(password)
	}
	return postgres.Open(ctx, address, postgres.Options{Log: a.logger(), Redact: a.redactor.Redact, Password: password, User: a.settings.User})
}

// changePause bounds how often the changes of others are shown.
const changePause = 250 * time.Millisecond

// watchHistory shows what other programs change in a history that several share,
// and names who deleted pairs that were in view.
func watchHistory(ctx context.Context, store history.Store, session *assistant.Session, notify func(tui.Noticed)) {
	notifier, ok := store.(history.Notifier)
	if !ok {
		return
	}
	for {
		select {
		case change := <-notifier.Changes():
			notify(tui.Noticed{Text: describeDeleted(change.Deleted, session.Visible()), Pairs: true})
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(changePause):
		case <-ctx.Done():
		}
	}
}

// describeDeleted names who deleted pairs of the view; "" when nobody did.
func describeDeleted(deleted map[int64]string, view []assistant.Ref) string {
	count := map[string]int{}
	for _, ref := range view {
		if by := deleted[ref.Seq]; by != "" {
			count[by]++
		}
	}
	var sentences []string
	for _, by := range slices.Sorted(maps.Keys(count)) {
		sentences = append(sentences, fmt.Sprintf("%s deleted by %s", assistant.Counted(count[by], "pair"), safetext.Line(by, maxName)))
	}
	return strings.Join(sentences, " · ")
}

// sayReport says what the user should know of the state the database was in.
func (a *app) sayReport(r history.Report) {
	if s := r.Salvage; s != nil {
		a.say("the history was damaged (%s): %d of its pairs were saved, %d are known to be lost, %d are changed; the old file is kept unchanged as %s",
			s.Reason, s.Salvaged, s.Lost, s.Altered, s.SetAside)
	}
	if r.ReadOnly != nil {
		a.say("the history can only be read: %v", r.ReadOnly)
	}
	if r.LostWAL {
		a.say("the -wal file of the history was removed after a crash: what was written last may be lost")
	}
	if r.Backup != "" {
		a.say("the history was converted to the format of this version; a copy of the old one is %s", r.Backup)
	}
	if r.Interrupted > 0 {
		a.say("%s had no answer when winnow last ended; marked as interrupted", assistant.Counted(r.Interrupted, "question"))
	}
	for _, path := range r.Repaired {
		a.say("others could read %s; its mode was repaired", path)
	}
	for _, notice := range r.Notices {
		a.say("the history: %s", notice)
	}
}
