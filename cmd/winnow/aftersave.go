package main

import (
	"context"
	"fmt"
	"os/exec"

	"winnow/adapters/aftersave"
	"winnow/adapters/doctor"
	"winnow/assistant"
)

// afterSave returns a function that runs the command of the setting after_save for a
// window; nil if there is none. Commands other than the screen, a server and winnow mcp
// wait for it when they end.
func (a *app) afterSave(w *journaledWindow) func() string {
	if len(a.settings.AfterSave) == 0 {
		return nil
	}
	r := aftersave.New(aftersave.Options{
		Command: a.settings.AfterSave, Environ: a.environ, Redactor: a.redactor,
		Check: w.differs,
		Told: func(text string) {
			a.logger().Info("after_save", "result", text)
			if hub := w.hub.Load(); hub != nil {
				hub.Followed("after_save", text)
			}
			if notify := a.onTools.Load(); notify != nil {
				(*notify)(text)
				return
			}
			a.printErr("%s", text)
		},
	})
	a.onClose(func() error {
		if a.background == nil && w.hub.Load() == nil && w.agent == "" {
			r.Wait(a.ctx)
		}
		return r.Close()
	})
	return r.Saved
}

// differs asks the proxy which models it serves, and describes how they differ from the
// saved rules.
func (w *journaledWindow) differs(ctx context.Context) (string, error) {
	served, err := w.lists.Served(ctx)
	if err != nil {
		return "", err
	}
	extra := 0
	for _, p := range w.filter.Providers() {
		if s, err := w.filter.On(p.Name); err == nil {
			extra += len(served.Drift(s.Provider(), s.Expected(served.IDs...)).Extra)
		}
	}
	if extra == 0 {
		return "", nil
	}
	return fmt.Sprintf("it serves %s that the rules hide", assistant.Counted(extra, "model")), nil
}

// examineAfterSave checks whether the command of after_save can be found.
func (a *app) examineAfterSave(context.Context) doctor.Finding {
	path, err := exec.LookPath(a.settings.AfterSave[0])
	if err != nil {
		return doctor.Fail("after_save", doctor.BadSettings, err, "")
	}
	return doctor.Pass("after_save", "runs %s after each save", path)
}
