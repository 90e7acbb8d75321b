package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/openai"
	"winnow/checkpoint"
)

// desk is the window with its journal: the rules as they are staged, whichever
// program staged them.
type desk struct {
	window  *modelfilter.Window
	lists   *models.Lists
	journal *checkpoint.Journal
	// staged says that rules of an earlier run were taken up.
	staged bool
	app    *app
}

// openDesk opens the window and its journal. To write it needs the journal for
// itself; to look it does not.
func (a *app) openDesk(ctx context.Context, session func() string, write bool) (*desk, error) {
	h, err := a.folders()
	if err != nil {
		return nil, err
	}
	if _, err := a.config(); err != nil {
		return nil, err
	}
	if err := a.checkEnvFile(); err != nil {
		return nil, err
	}
	d := &desk{app: a}
	if d.lists, err = a.modelLists(h); err != nil {
		return nil, err
	}
	d.window, err = modelfilter.Open(ctx, modelfilter.Options{
		EnvFile: a.envFile(), Environ: func() []string { return a.environ }, Models: d.lists,
		VersionsDir: h.versions(), Session: session, Log: a.logger(),
	})
	if err != nil {
		return nil, err
	}
	d.journal, err = checkpoint.Open(h.journal(d.window.EnvFile()), checkpoint.Options{Log: a.logger(), ReadOnly: !write})
	if err != nil {
		return nil, err
	}
	a.onClose(d.journal.Close)
	for _, notice := range d.journal.Notices() {
		a.say("%s", notice)
	}
	return d, d.takeUp()
}

// takeUp stages the unsaved rules that an earlier run left.
func (d *desk) takeUp() error {
	current := d.journal.Current()
	if current == nil || d.journal.Clean() { // nil: nothing was ever staged, at most the first change refused
		return nil
	}
	saved, known := d.journal.SavedState()
	if !known { // what the file held then was never written down: what it holds now
		var err error
		if saved, err = d.state(); err != nil {
			return err
		}
	}
	if err := d.window.Recover(current, saved); err != nil {
		return advise(fmt.Errorf("the unsaved rules of an earlier run cannot be taken up: %w", err),
			"they stay in %s; winnow checkpoints list shows what there is", d.journal.Path())
	}
	d.staged = d.window.Dirty()
	return nil
}

// record brings the journal to the window's state, when that came about by
// something else than an edit.
func (d *desk) record(description string) error {
	state, err := d.state()
	if err != nil {
		return err
	}
	last := d.journal.Current()
	if last == nil || checkpoint.Equal(last, state) {
		return nil
	}
	_, err = d.journal.Edit(description, last, state)
	return err
}

// finish carries on a rollback that a crash interrupted, before anything else
// is written to the journal.
func (d *desk) finish(ctx context.Context) error { return d.app.finish(ctx, d.journal, d.window) }

// edit makes one change of the rules by hand: in the window and in the journal,
// or in neither.
func (d *desk) edit(ctx context.Context, description string, change func() error) error {
	if err := d.finish(ctx); err != nil {
		return err
	}
	before, err := d.state()
	if err != nil {
		return err
	}
	// What the file holds now is what the next run compares the staged rules with.
	if saved, _ := d.journal.SavedState(); !d.window.Dirty() && !checkpoint.Equal(saved, before) {
		if err := d.journal.Saved(before); err != nil {
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	after, err := d.state()
	if err == nil {
		_, err = d.journal.Edit(description, before, after)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the change could not be recorded and was taken back: %w", err), d.window.ApplyState(before))
	}
	return d.markSaved()
}

// save writes the staged rules to the file.
func (d *desk) save(ctx context.Context) (assistant.Saved, error) {
	if err := d.finish(ctx); err != nil {
		return assistant.Saved{}, err
	}
	saved, err := d.window.Save(ctx)
	if err != nil {
		return saved, err
	}
	return saved, d.markSaved()
}

// markSaved tells the journal that the file holds what is staged, when it does.
func (d *desk) markSaved() error {
	if d.window.Dirty() {
		return nil
	}
	if err := d.record("save"); err != nil {
		return err
	}
	state, err := d.state()
	if err != nil {
		return err
	}
	return d.journal.Saved(state)
}

func (d *desk) state() (json.RawMessage, error) {
	v, err := d.window.State()
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// modelLists knows the models of the proxy's providers.
func (a *app) modelLists(h home) (*models.Lists, error) {
	source, err := dotenv.Load(a.envFile())
	if err != nil {
		return nil, err
	}
	proxy, err := a.proxyEndpoint()
	if err != nil {
		return nil, err
	}
	o := models.Options{
		Dir: h.models(), Log: a.logger(),
		Env: func(name string) (models.Value, bool) {
			if v, ok := a.lookupEnv(name); ok {
				return models.Value{Text: v}, true
			}
			v, ok := source.File.Get(name, a.lookupEnv)
			return models.Value{Text: v, From: source.Path}, ok
		},
		Lister: func(t models.Target) (models.Fetcher, error) {
			a.redactor.Add(t.Key)
			return openai.New(openai.Options{Name: t.Name, BaseURL: t.BaseURL, Key: t.Key, Headers: t.Headers, Log: a.logger()})
		},
	}
	if proxy != nil {
		// The proxy's key goes to an address of the same file, never from the
		// user's environment to one that a file of the folder names.
		_, keyOutside := a.lookupEnv("PROXY_API_KEY")
		if !proxy.remote || !keyOutside {
			opts, err := proxy.options(a.ctx)
			if err != nil {
				return nil, err
			}
			o.Proxy = &models.Proxy{BaseURL: proxy.baseURL, Key: opts.Key}
		}
	}
	return models.New(o), nil
}

// openHistory opens the database of pairs, once.
func (a *app) openHistory(ctx context.Context) (history.Store, error) {
	if a.store != nil {
		return a.store, nil
	}
	h, err := a.folders()
	if err != nil {
		return nil, err
	}
	store, err := history.Open(ctx, h.history(), history.Options{Log: a.logger(), Redact: a.redactor.Redact, OnDamage: func(d *history.DamageError) {
		a.logger().Error("history is damaged", "error", d)
	}})
	if err != nil {
		return nil, err
	}
	a.store = store
	a.onClose(store.Close)
	for _, line := range historyNotices(store.Report()) {
		a.say("%s", line)
	}
	return store, nil
}

// historyNotices is what the user should know of how the database was found.
func historyNotices(r history.Report) []string {
	var out []string
	if s := r.Salvage; s != nil {
		out = append(out, fmt.Sprintf("the history was damaged (%s): %d of its pairs were saved, %d are known to be lost, %d are changed; the old file lies unchanged at %s",
			s.Reason, s.Salvaged, s.Lost, s.Altered, s.SetAside))
	}
	if r.ReadOnly != nil {
		out = append(out, fmt.Sprintf("the history can only be read: %v", r.ReadOnly))
	}
	if r.LostLog {
		out = append(out, "a part of the history was removed after a crash: what was written last may be lost")
	}
	if r.Migrated > 0 {
		out = append(out, fmt.Sprintf("the history was brought to this version; a copy of the old one is %s", r.Copy))
	}
	if r.Interrupted > 0 {
		out = append(out, assistant.Counted(r.Interrupted, "question")+" had no answer when winnow ended last; marked as interrupted")
	}
	for _, path := range r.Repaired {
		out = append(out, "others could read "+path+"; its mode was repaired")
	}
	return out
}
