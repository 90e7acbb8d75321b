package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"winnow/adapters/aftersave"
	"winnow/adapters/doctor"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
)

// afterSave returns an Applier that runs the command of the setting after_save for a window, or nil if the setting is
// empty. A run waits for this command before it ends, except with a screen and in winnow serve and winnow mcp.
func (a *app) afterSave(w *journaledWindow) modelfilter.Applier {
	if len(a.settings.AfterSave) == 0 {
		return nil
	}
	a.applied.Store(w)
	if a.applier != nil {
		return a.applier
	}
	path, err := a.inJournalFolder("after_save")
	if err != nil {
		a.logger().Warn("the result of after_save will not be stored", "error", err)
	}
	waited := func() bool { w := a.applied.Load(); return a.background == nil && w.hub.Load() == nil && w.agent == "" }
	r := aftersave.New(aftersave.Options{
		Command: a.settings.AfterSave, Environ: a.environ, Redactor: a.redactor, Path: path, Log: a.logger(),
		Check: func(ctx context.Context) (string, error) { return a.applied.Load().servedHidden(ctx) },
		Done:  a.tellApplied, Waited: waited,
	})
	a.onClose(func() error {
		if waited() {
			r.WaitApplied(a.ctx)
		}
		return r.Close()
	})
	a.applier = r
	return r
}

// tellApplied shows the outcome of applying a save to everyone who sees the window.
func (a *app) tellApplied(result assistant.Applied) {
	a.logger().Info("after_save", "state", string(result.State), "result", string(result.Message))
	if hub := a.applied.Load().hub.Load(); hub != nil {
		hub.Applied(result)
	}
	if notify := a.onNotice.Load(); notify != nil {
		(*notify)(result.Message)
		return
	}
	a.printErr("%s", result.Message)
}

// servedHidden asks the proxy which models it serves, and says how many of them the saved rules hide; "" means none.
func (w *journaledWindow) servedHidden(ctx context.Context) (string, error) {
	served, err := w.lists.Served(ctx)
	if err != nil {
		return "", err
	}
	extra := 0
	for _, p := range w.filter.Providers() {
		if s, err := w.filter.On(p.Name); err == nil {
			extra += len(served.Compare(s.Provider(), s.Expected(served.IDs...)).Extra)
		}
	}
	if extra == 0 {
		return "", nil
	}
	return fmt.Sprintf("it serves %s that the rules hide", assistant.Counted(extra, "model")), nil
}

// examineAfterSave checks whether the after_save command can be found, and reports the result of its last run.
func (a *app) examineAfterSave(context.Context) doctor.Finding {
	const about = "after_save"
	command, err := exec.LookPath(a.settings.AfterSave[0])
	if err != nil {
		return doctor.Fail(about, doctor.BadSettings, err, "")
	}
	path, err := a.inJournalFolder("after_save")
	var last assistant.Applied
	if err == nil {
		last, err = aftersave.Last(path)
	}
	if err != nil {
		return doctor.Fail(about, doctor.Damaged, fmt.Errorf("the result of the last run cannot be read: %w", err), "")
	}
	detail := fmt.Sprintf("runs %s after each save", command)
	if last.State != "" {
		detail += fmt.Sprintf("; after the save of %s: %s", last.Began.Local().Format(time.DateTime), last.Message)
	}
	switch last.State {
	case "", assistant.AppliedLive, assistant.AppliedRunning:
		return doctor.Pass(about, "%s", detail)
	default:
		return doctor.Problem(about, doctor.Warning, doctor.NotApplied, detail, "")
	}
}
