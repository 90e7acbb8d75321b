package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/fleet"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/workspace"
)

// errNoTarget is returned for a target name that is not in the settings.
var errNoTarget = errors.New("there is no such target")

// target returns the target with this name.
func (a *app) target(ctx context.Context, name string) (fleet.Target, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	if name == config.HereTarget {
		return &localTarget{name: name, app: a}, nil
	}
	i := slices.IndexFunc(s.Targets, func(t config.Target) bool { return t.Name == name })
	if i < 0 {
		return nil, advise(fmt.Errorf("%s: %w", visible(name), errNoTarget), "add a [[target]] with this name to the settings; winnow help fleet shows how")
	}
	return a.targetOf(ctx, s.Targets[i])
}

// targetOf returns the target that an entry in the settings describes.
func (a *app) targetOf(ctx context.Context, t config.Target) (fleet.Target, error) {
	if t.EnvFile != "" {
		return &localTarget{name: t.Name, app: a.at(t.EnvFile)}, nil
	}
	token, err := t.ReadToken(ctx, a.environ, a.redactor)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", t.Name, err)
	}
	a.redactor.Add(token)
	s, err := fleet.NewServer(t.Name, t.URL, token, t.AllowHTTP)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", t.Name, err)
	}
	a.onClose(func() error { return s.Close(context.WithoutCancel(a.ctx)) })
	return s, nil
}

// at returns an app for another .env file on this machine. It is closed when this app is, and ignores settings
// for the proxy of this folder, such as after_save.
func (a *app) at(envFile string) *app {
	settings := *a.settings
	settings.AfterSave, settings.ProxyData, settings.Targets = nil, "", nil
	u := &app{
		ctx: a.ctx, stop: func() {}, stdin: a.stdin, stdout: a.stdout, stderr: a.stderr, environ: a.environ, flags: a.flags, program: a.program,
		redactor: a.redactor, settings: &settings, home: a.home, log: a.logger(), historyWaits: make(chan bool, 1),
	}
	u.flags.envFile, u.flags.create = envFile, false
	a.onClose(func() error { return u.closeAfter(0) })
	return u
}

// compareTime limits how long the pane waits for other proxies.
const compareTime = 5 * time.Second

// compareTargets returns a function that compares the window with all targets in the settings, or nil if there are
// none.
func (a *app) compareTargets() func(context.Context, modelfilter.Exported) []modelfilter.TargetView {
	if len(a.settings.Targets) == 0 {
		return nil
	}
	all := slices.Clone(a.settings.Targets)
	local := map[string]fleet.Target{}
	for _, t := range all {
		if t.EnvFile != "" {
			u := a.at(t.EnvFile)
			u.stderr = io.Discard // a screen may be drawn on the terminal
			local[t.Name] = &localTarget{name: t.Name, app: u}
		}
	}
	return func(ctx context.Context, own modelfilter.Exported) []modelfilter.TargetView {
		ctx, cancel := context.WithTimeout(ctx, compareTime)
		defer cancel()
		views := make([]modelfilter.TargetView, len(all))
		var group sync.WaitGroup
		for i, t := range all {
			group.Go(func() { views[i] = a.viewOf(ctx, t, local[t.Name], own) })
		}
		group.Wait()
		return views
	}
}

// viewOf compares own, the rules and models of the window, with one target. If the target is on this machine, it is
// local; otherwise local is nil.
func (a *app) viewOf(ctx context.Context, t config.Target, local fleet.Target, own modelfilter.Exported) modelfilter.TargetView {
	v := modelfilter.TargetView{Name: t.Name}
	target, err := local, error(nil)
	if local == nil {
		target, err = a.targetOf(ctx, t)
	}
	if err == nil {
		var theirs modelfilter.Exported
		if theirs, err = target.Export(ctx); err == nil {
			d := fleet.Compare(config.HereTarget, t.Name, own, theirs)
			v.Rules, v.Models = len(d.Rules), len(d.Models)
		}
	}
	if err != nil {
		v.Problem = a.redactor.Redact(err.Error())
	}
	return v
}

// localTarget is a target whose .env file is on this machine.
type localTarget struct {
	name string
	app  *app

	window    *journaledWindow // the open window once something is staged; nil before
	workspace *workspace.Workspace
}

// opening allows one local target at a time to open its window, because they share standard error.
var opening sync.Mutex

// Name implements fleet.Target.
func (t *localTarget) Name() string { return t.name }

// Export implements fleet.Target.
func (t *localTarget) Export(ctx context.Context) (modelfilter.Exported, error) {
	opening.Lock()
	defer opening.Unlock()
	w := t.window
	if w == nil {
		t.app.closeMu.Lock()
		n := len(t.app.closers)
		t.app.closeMu.Unlock()
		var err error
		if w, err = t.app.openAskedFilter(ctx, toRead); err != nil {
			return modelfilter.Exported{}, errors.Join(err, t.app.closeAfter(n))
		}
		defer func() { _ = t.app.closeAfter(n) }() // the window was only read, so nothing can be lost
	}
	e, err := w.filter.Export(ctx)
	if err != nil {
		return modelfilter.Exported{}, err
	}
	return e.(modelfilter.Exported), nil
}

// Stage implements fleet.Target.
func (t *localTarget) Stage(ctx context.Context, rules []fleet.Rules) (plan assistant.SavePlan, user string, err error) {
	opening.Lock()
	defer opening.Unlock()
	w, err := t.app.openAskedFilter(ctx, toWrite)
	if err != nil {
		return plan, "", err
	}
	session, err := t.app.editSession(ctx, w, nil, w.journal.LastRun().Session)
	if err != nil {
		return plan, "", err
	}
	t.window, t.workspace = w, workspace.New(workspace.Options{Session: session, Folder: t.app.folder(), Author: t.app.userName()})
	for _, r := range rules {
		if err := t.workspace.Edit("copy the rules of "+r.Provider, func() error { return t.replace(r) }); err != nil {
			return plan, "", fmt.Errorf("staging the rules of %s: %w", r.Provider, err)
		}
	}
	plan, err = t.workspace.PlanSave(ctx, "")
	return plan, t.app.userName(), err
}

// replace stages the rules in r in place of the provider's current rules.
func (t *localTarget) replace(r fleet.Rules) error {
	s, err := t.window.filter.On(r.Provider)
	if err != nil {
		return err
	}
	done, err := s.Import(modelfilter.Import{Lists: [2][]string{modelfilter.Ignore: nonNil(r.Ignore), modelfilter.Allow: nonNil(r.Allow)}, Replace: true})
	for _, rule := range done {
		err = errors.Join(err, rule.Err)
	}
	return err
}

// Save implements fleet.Target.
func (t *localTarget) Save(ctx context.Context, digest string) (assistant.Saved, error) {
	return t.workspace.Save(ctx, assistant.Basis{Digest: digest})
}

// Discard implements fleet.Target.
func (t *localTarget) Discard(_ context.Context, digest string) error {
	_, err := t.workspace.Discard("discard the copied rules", assistant.Basis{Digest: digest})
	return err
}
