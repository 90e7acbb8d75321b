package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/postgres"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/tui"
)

// openHistory opens the store on the first call: the user's own file, or the database named in the history setting.
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
	a.printReport(store.Report())
	return store, nil
}

// hubConnections is the maximum number of connections to the history server for a program that serves other users.
// For any other program, the maximum is half as high.
const hubConnections = 6

// openStore opens the PostgreSQL store at address, or the file if address is "".
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
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	password, err := s.HistoryPassword.Resolve(ctx, a.environ, a.redactor)
	if err != nil {
		return nil, fmt.Errorf("history_password: %w", err)
	}
	if password != "" {
		a.redactor.Add(password)
	}
	o := postgres.Options{Log: a.logger(), Redact: a.redactor.Redact, Password: password, User: s.User, OnWait: a.onHistoryWait}
	if address == s.History {
		o.Listen = s.HistoryListen
	}
	if a.serving {
		o.Connections = hubConnections
	}
	store, err := postgres.Open(ctx, address, o)
	if has[*history.StorageError](err) {
		err = advise(err, "check the address, and the password in history_password, PGPASSWORD or ~/.pgpass; see winnow help team")
	}
	return store, err
}

// onHistoryWait reports that an operation is waiting for the history server, or that the server responds again.
// watchHistory shows both on the screen; without a screen, only the waiting is reported, on standard error.
func (a *app) onHistoryWait(waiting bool) {
	select {
	case <-a.historyWaits: // drop a state that has not been read
	default:
	}
	select {
	case a.historyWaits <- waiting:
	default: // another operation has just stored its state
	}
	onScreen := a.defers()
	if waiting && !onScreen {
		a.printErr("the history server is not responding; still waiting")
	}
}

// ownFile stands for the user's own file where a flag takes an address.
const ownFile = "sqlite"

func historyMigrateCommand(a *app) *cobra.Command {
	var from, to string
	c := command("migrate", "Copy the history into another database and compare the two", 0, 0, func(ctx context.Context, _ []string) error {
		if from == "" || to == "" || from == to {
			return &usageError{"winnow history migrate", "--from and --to must name two databases: " + ownFile + " for the local file, postgres://… for a team's history"}
		}
		defer a.progress("")
		var stores [2]history.Store
		for i, address := range []string{from, to} {
			if postgres.HasPassword(address) {
				return errPassword
			}
			store, err := a.openStore(ctx, strings.TrimPrefix(address, ownFile))
			if err != nil {
				return err
			}
			defer store.Close()
			stores[i] = store
		}
		r, err := transfer.Copy(ctx, stores[0], stores[1], func(done, total int) { a.progress("copying %d of %d messages", done, total) })
		if err != nil {
			return advise(err, "%s copied; repeat the command to continue without adding duplicates", assistant.Counted(r.Added, "message"))
		}
		a.progress("")
		return a.emit(map[string]int{"pairs": r.Pairs, "added": r.Added, "known": r.Known, "different": r.Different},
			fmt.Sprintf("%s added, %d already present; %d of %d are identical in both",
				assistant.Counted(r.Added, "message"), r.Known, r.Pairs-r.Different, r.Pairs))
	})
	c.Flags().StringVar(&from, "from", "", ownFile+" or the postgres:// ADDRESS to copy from")
	c.Flags().StringVar(&to, "to", "", ownFile+" or the postgres:// ADDRESS to copy to")
	return c
}

// errPassword rejects an address that contains a password, because addresses are shown and logged.
var errPassword = advise(errors.New("history: the address contains a password"),
	`remove it and set history_password = "env:NAME", "cmd:COMMAND" or "keyring:NAME", or use PGPASSWORD or ~/.pgpass`)

// changePause is the minimum time between two updates for changes to the history by other programs.
const changePause = 250 * time.Millisecond

// historyChanges returns a channel that delivers what other programs change in a history. A file sends no
// notifications, so its write-ahead log is watched; the channel is nil if that is not possible.
func (a *app) historyChanges(ctx context.Context, store history.Store) <-chan history.Change {
	if notifier, ok := store.(history.Notifier); ok {
		return notifier.Changes()
	}
	writes, err := dotenv.Watch(ctx, store.Path()+"-wal")
	if err != nil {
		a.logger().Warn("changes to the history by other programs are not followed", "error", err)
		return nil
	}
	changes := make(chan history.Change)
	go func() {
		for range writes {
			if changed, err := store.Refresh(ctx); err != nil || !changed { // after an error, the next write triggers another attempt
				continue
			}
			select {
			case changes <- history.Change{}:
			case <-ctx.Done():
			}
		}
	}()
	return changes
}

// watchHistory updates the screen when other programs change the history, names who deleted visible pairs, and
// reports when the history server stops responding and when it responds again.
func (a *app) watchHistory(ctx context.Context, store history.Store, session *assistant.Session, notify func(tui.Noticed)) {
	by := "another winnow"
	if _, shared := store.(history.Notifier); shared {
		by = "" // teammates add messages all the time, and each message names its author
	}
	for changes := a.historyChanges(ctx, store); ; {
		select {
		case waiting := <-a.historyWaits:
			var text safetext.Text = "the history server is responding again"
			if waiting {
				text = "the history server is not responding; still waiting"
			}
			notify(tui.Noticed{Text: text})
			continue
		case change := <-changes:
			notify(tui.Noticed{Text: change.DeletionsIn(session.Visible()), Pairs: true, By: by})
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(changePause):
		case <-ctx.Done():
		}
	}
}

// followHistory updates the sessions of a hub when other programs change the history, until ctx ends.
func (a *app) followHistory(ctx context.Context, store history.Store, hub *serve.Hub) {
	for changes := a.historyChanges(ctx, store); ; {
		select {
		case <-changes:
			hub.Refilter()
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(changePause):
		case <-ctx.Done():
		}
	}
}

// printReport prints what the user should know about the state of the database when it was opened.
func (a *app) printReport(r history.Report) {
	if s := r.Salvage; s != nil {
		lost := "an unknown number lost"
		if s.Lost != history.UnknownLost {
			lost = fmt.Sprintf("%d lost", s.Lost)
		}
		a.printErr("the history was damaged (%s): %s recovered, %s, %d changed; the damaged file is kept as %s",
			s.Reason, assistant.Counted(s.Salvaged, "message"), lost, s.Altered, s.SetAside)
	}
	if storage, ok := errors.AsType[*history.StorageError](r.ReadOnly); ok {
		a.printErr("the history is read-only: %s: %s", storage.Path, storage.Reason)
	} else if r.ReadOnly != nil {
		a.printErr("the history is read-only: %v", r.ReadOnly)
	}
	if r.LostWAL {
		a.printErr("the history's -wal file was removed after a crash: the last messages may be lost")
	}
	if r.Backup != "" {
		a.printErr("the history was converted to the format of this version; a copy in the old format is at %s", r.Backup)
	}
	if n := r.Interrupted; n > 0 && !a.defers() { // a screen says which key retries
		a.printErr("winnow last ended during %s: winnow history search e lists the messages that failed", assistant.Counted(n, "answer"))
	}
	for _, repaired := range r.Repaired {
		a.printErr("%s", repaired)
	}
	for _, notice := range r.Notices {
		a.printErr("history: %s", notice)
	}
}
