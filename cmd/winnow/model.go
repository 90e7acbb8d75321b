package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"winnow/adapters/endpoints"
	"winnow/assistant/safetext"
	"winnow/tui"
)

// openEndpoints finds the endpoints of this run. It connects to nothing. delay
// is the pause of the offline model between two words.
func (a *app) openEndpoints(delay time.Duration) (*endpoints.Set, error) {
	o, err := a.endpointOptions()
	if err != nil {
		return nil, err
	}
	o.Delay, o.ReadPause = delay, a.readPause
	o.Notice = func(text string) { a.say("%s", text) }
	o.Provider, o.BaseURL = a.given(a.flags.provider, "WINNOW_PROVIDER"), a.given(a.flags.baseURL, "WINNOW_BASE_URL")
	set, err := endpoints.Find(o)
	var named *endpoints.NamedError
	switch {
	case errors.As(err, &named) && named.What == "base URL":
		return nil, &usageError{"winnow", "--base-url: " + named.Reason}
	case errors.As(err, &named) && named.What == "provider":
		return nil, advise(err, "there are %s; add others as [[provider]] to the settings (winnow config edit), or give --base-url", strings.Join(named.Names, ", "))
	case errors.As(err, &named):
		return nil, advise(err, "correct the variable or unset it")
	case err != nil:
		return nil, err
	}
	return set, nil
}

// proxy is the proxy of the .env file; nil when the file describes none.
func (a *app) proxy() (*endpoints.Endpoint, error) {
	o, err := a.endpointOptions()
	if err != nil {
		return nil, err
	}
	return endpoints.Proxy(o)
}

func (a *app) endpointOptions() (endpoints.Options, error) {
	s, err := a.config()
	if err != nil {
		return endpoints.Options{}, err
	}
	h, err := a.folders()
	if err != nil {
		return endpoints.Options{}, err
	}
	o := endpoints.Options{Settings: s, Environ: a.environ, EnvFile: a.envFile(), CacheDir: h.endpoints(), Redactor: a.redactor, Log: a.logger()}
	if s.LocalServers {
		o.Local = endpoints.LocalServers()
	}
	return o, nil
}

// lastModelKey is where the history stores the model that was picked last in a folder.
func lastModelKey(folder string) string { return "model:" + folder }

// namedModel is the model that the user chose, now or earlier; "" when the
// endpoints have to be asked. before is the model of the resumed session. It
// connects to nothing.
func (a *app) namedModel(ctx context.Context, p *program, before string) (c endpoints.Choice, err error) {
	s, err := a.config()
	if err != nil {
		return c, err
	}
	from := s.Origins["model"].From
	if s.Model != "" && (from == "flag" || from == "environment") {
		c.ID, err = a.modelID(p.endpoints, s.Model, from == "flag")
		return c, err
	}
	if before != "" && before != endpoints.OfflineModel && p.endpoints.Serves(before) { // the offline model may only have stood in
		p.auto = before // chosen in the session, not in the folder
		return endpoints.Choice{ID: before}, nil
	}
	restricted := a.given(a.flags.provider, "WINNOW_PROVIDER") != "" || a.given(a.flags.baseURL, "WINNOW_BASE_URL") != ""
	last, err := p.store.Get(ctx, lastModelKey(a.folder()))
	switch {
	case err != nil:
		return c, err
	case last != "" && p.endpoints.Serves(last):
		return endpoints.Choice{ID: last}, nil
	case last != "" && !restricted:
		c.Note = fmt.Sprintf("%s, used here last, has no endpoint now; ", last)
	}
	if s.Model != "" && (!restricted || p.endpoints.Serves(s.Model)) {
		c.ID, err = a.modelID(p.endpoints, s.Model, false)
	}
	return c, err
}

// modelID is the full id of a model that the user named. byFlag says that it was
// named on the command line: an endpoint of the environment does not change it
// then.
func (a *app) modelID(set *endpoints.Set, name string, byFlag bool) (string, error) {
	preferNamed := a.flags.baseURL != "" || a.flags.provider != "" ||
		!byFlag && (a.env("WINNOW_BASE_URL") != "" || a.env("WINNOW_PROVIDER") != "")
	id, err := set.ModelID(name, preferNamed)
	if errors.Is(err, endpoints.ErrNotQualified) {
		return "", advise(fmt.Errorf("model: %q is not PROVIDER/NAME", safetext.Line(name, maxName)),
			"for example -m %s; winnow models --chat lists what there is", endpoints.OfflineModel)
	}
	return id, advise(err, "add others as [[provider]] to the settings (winnow config edit), or set OPENAI_API_KEY")
}

// model is the model of a run that cannot choose later: the one that is named,
// else the first there is.
func (a *app) model(ctx context.Context, p *program) (endpoints.Choice, error) {
	c, err := a.namedModel(ctx, p, "")
	if err == nil && c.ID == "" {
		var first endpoints.Choice
		first, err = firstModel(ctx, p.endpoints)
		c.ID, c.Note = first.ID, c.Note+first.Note
	}
	if err != nil {
		return c, err
	}
	return c, p.endpoints.Describe(c.ID)
}

// firstModel asks the endpoints for a model to begin with.
func firstModel(ctx context.Context, set *endpoints.Set) (endpoints.Choice, error) {
	c, err := set.First(ctx)
	var none *endpoints.ListError
	switch {
	case !errors.As(err, &none):
		return c, err
	case none.Err == nil:
		return c, advise(err, "name one with -m %s/NAME", none.Endpoint.Name)
	}
	return c, advise(err, "name a model with -m %s/NAME, or %s", none.Endpoint.Name, nextStep(none.Err))
}

// foundModel is the answer of the endpoints to the question for a model.
type foundModel struct {
	endpoints.Choice
	err error
}

// findModel asks the endpoints for a model to begin with, in the background.
func findModel(ctx context.Context, set *endpoints.Set) <-chan foundModel {
	out := make(chan foundModel, 1)
	go func() {
		c, err := firstModel(ctx, set)
		out <- foundModel{c, err}
	}()
	return out
}

// useFound picks the model that the endpoints named, if they already have. Until
// then the offline model stands in, where the user set up no endpoint.
func (p *program) useFound(picked endpoints.Choice) endpoints.Choice {
	select {
	case f := <-p.later:
		p.later = nil
		if f.err != nil {
			f.Note = f.err.Error()
		}
		picked.ID, picked.Note = f.ID, picked.Note+f.Note
	default:
		if first := p.endpoints.All[0]; first.Auto || first.Name == endpoints.OfflineName {
			picked.ID = endpoints.OfflineModel
		}
	}
	p.auto = picked.ID
	return picked
}

// follow selects the model that the endpoints name later, or asks the selected
// endpoint for its models. notify gets what came of it.
func (p *program) follow(ctx context.Context, notify func(tui.Noticed)) {
	p.follows.Go(func() {
		if p.later == nil {
			p.listModels(ctx)
			return
		}
		select {
		case <-ctx.Done():
		case f := <-p.later:
			p.selectFound(f, notify)
		}
	})
}

// listModels asks the endpoint of the selected model for its models: what is
// known of them may be out of date, or is not known at all.
func (p *program) listModels(ctx context.Context) {
	name, _, _ := strings.Cut(p.session.Model(), "/")
	e := p.endpoints.Named(name)
	if e == nil || len(e.Known) > 0 {
		return
	}
	// A failure is shown when a message is sent, or the models are asked for.
	if failed := p.endpoints.Registry.Refresh(ctx, name); len(failed) == 0 {
		p.session.ModelsChanged()
	}
}

// selectFound selects the model that the endpoints named, unless the user has
// chosen or sent something meanwhile.
func (p *program) selectFound(f foundModel, notify func(tui.Noticed)) {
	_, sent := p.session.LastSend()
	if p.session.Model() != p.auto || p.session.Busy() || sent {
		return
	}
	err := f.err
	if err == nil {
		err = p.endpoints.Describe(f.ID)
	}
	if err == nil {
		err = p.session.SetModel(f.ID)
	}
	if err != nil {
		notify(failure(err))
		return
	}
	p.auto = f.ID
	notify(tui.Noticed{Text: f.Note})
}

// failure shows err in the footer; a nil err only refreshes the screen.
func failure(err error) tui.Noticed {
	if err == nil {
		return tui.Noticed{}
	}
	return tui.Noticed{Text: err.Error(), Bad: true}
}
