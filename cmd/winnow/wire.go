package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/history"
)

// wiring is the endpoints of a run as the models to choose from.
type wiring struct {
	registry *assistant.Registry
	clients  []*client // in order of preference
}

// wire makes the registry. It connects to nothing. delay is the pause of the
// offline model between two words.
func (a *app) wire(delay time.Duration) (*wiring, error) {
	found, err := a.endpoints(delay)
	if err != nil {
		return nil, err
	}
	w := &wiring{registry: &assistant.Registry{}}
	for _, e := range found {
		c := &client{endpoint: e, app: a}
		p := assistant.Provider{Name: e.name, Model: c, Known: e.known}
		if len(e.known) == 0 {
			p.List = func(ctx context.Context) ([]assistant.ModelInfo, error) { return described(c.offered(ctx)) }
		}
		if err := w.registry.Add(p); err != nil {
			return nil, err
		}
		w.clients = append(w.clients, c)
	}
	return w, nil
}

// offered is what an endpoint has to choose from. One that was only looked for
// has nothing where it is not, which is no failure; one that a file of the
// folder names elsewhere is asked only when the user names it.
func (c *client) offered(ctx context.Context) ([]assistant.ModelInfo, error) {
	if c.remote || c.guess && !c.answers(ctx) {
		return nil, nil
	}
	return c.list(ctx)
}

// described fills in from the catalogue what an endpoint does not tell.
func described(found []assistant.ModelInfo, err error) ([]assistant.ModelInfo, error) {
	for i, m := range found {
		if info, ok := models.Info(m.ID); ok {
			found[i] = merged(m, info)
		}
	}
	return found, err
}

// merged is what an endpoint says of a model, and where it is silent what the
// catalogue does.
func merged(m, info assistant.ModelInfo) assistant.ModelInfo {
	if m.Context == 0 {
		m.Context, m.Known = info.Context, info.Known
	}
	if m.PriceIn == 0 && m.PriceOut == 0 {
		m.PriceIn, m.PriceOut = info.PriceIn, info.PriceOut
	}
	m.Tools, m.Reasons, m.Images = m.Tools || info.Tools, m.Reasons || info.Reasons, m.Images || info.Images
	return m
}

// client is the endpoint of this name; nil when there is none.
func (w *wiring) client(name string) *client {
	if i := slices.IndexFunc(w.clients, func(c *client) bool { return c.name == name }); i >= 0 {
		return w.clients[i]
	}
	return nil
}

// lastModelKey is where the history keeps the model that was picked last in a folder.
func lastModelKey(folder string) string { return "model:" + folder }

// chosen is the model to begin with, and a sentence about it when the user
// did not name it.
type chosen struct {
	id      string
	note    string
	resumed bool // it is that of the session that is gone on with
}

// namedModel is the model that the user chose, now or earlier; "" when the
// endpoints have to be asked. before is the model of the session that is gone on
// with. It connects to nothing.
func (a *app) namedModel(ctx context.Context, w *wiring, store history.Store, before string) (chosen, error) {
	s, err := a.config()
	if err != nil {
		return chosen{}, err
	}
	from := s.Origins["model"].From
	if s.Model != "" && (from == "flag" || from == "environment") {
		id, err := a.fullID(w, s.Model, from == "flag")
		return chosen{id: id}, err
	}
	restricted := a.given(a.flags.provider, "WINNOW_PROVIDER") != "" || a.given(a.flags.baseURL, "WINNOW_BASE_URL") != ""
	fits := func(id string) bool {
		name, _, _ := strings.Cut(id, "/")
		return w.client(name) != nil && (!restricted || w.clients[0].name == name)
	}
	if before != "" && before != offlineModel && fits(before) { // the offline model may only have stood in
		return chosen{id: before, resumed: true}, nil
	}
	note := ""
	if store != nil {
		last, err := store.Get(ctx, lastModelKey(a.folder()))
		switch {
		case err != nil:
			return chosen{}, err
		case last != "" && fits(last):
			return chosen{id: last}, nil
		case last != "" && !restricted:
			note = fmt.Sprintf("%s, used here last, has no endpoint now; ", last)
		}
	}
	if s.Model == "" || restricted && !fits(s.Model) {
		return chosen{note: note}, nil
	}
	id, err := a.fullID(w, s.Model, false)
	return chosen{id: id, note: note}, err
}

// fullID is the id of a model that a user named: PROVIDER/NAME of an endpoint,
// or, with one endpoint asked for, a name of its own. byFlag says that it was
// named on the command line: an endpoint of the environment does not change it
// then, while one of the command line always answers itself.
func (a *app) fullID(w *wiring, name string, byFlag bool) (string, error) {
	prefix, rest, ok := strings.Cut(name, "/")
	first := w.clients[0]
	asked := a.flags.baseURL != "" || a.flags.provider != "" ||
		!byFlag && (a.env("WINNOW_BASE_URL") != "" || a.env("WINNOW_PROVIDER") != "")
	if ok && rest != "" && w.client(prefix) != nil && (prefix == first.name || !asked) {
		return name, nil
	}
	if !first.auto && first.name != offlineName {
		return first.name + "/" + name, nil
	}
	if !ok {
		return "", advise(&assistant.ConfigError{Field: "model", Reason: fmt.Sprintf("%q is not PROVIDER/NAME", name)},
			"for example -m %s; winnow models --chat lists what there is", offlineModel)
	}
	_, _, _, err := w.registry.Open(name)
	return "", advise(err, "add others as [[provider]] to the settings (winnow config edit), or set OPENAI_API_KEY")
}

// firstModel asks the endpoints for a model to begin with: the first chat model of
// the first endpoint that was asked for; failing that, of the first that answers.
func (w *wiring) firstModel(ctx context.Context) (chosen, error) {
	var found *client
	if first := w.clients[0]; !first.auto {
		found = first
	} else {
		found = w.firstThatAnswers(ctx)
	}
	if len(found.known) > 0 {
		id := found.known[0].ID
		if found.name == offlineName {
			return chosen{id: id, note: "no endpoint is set up: " + id + " answers, built-in rules and no language model"}, nil
		}
		return chosen{id: id, note: "using " + id}, nil
	}
	listed, err := found.list(ctx)
	if err != nil {
		return chosen{}, advise(fmt.Errorf("%s (%s) does not list its models: %w", found.name, found.baseURL, err),
			"name a model with -m %s/NAME, or %s", found.name, kindAdvice(string(assistant.KindOf(err))))
	}
	for _, m := range listed {
		if !m.NoChat {
			w.registry.Learn(m)
			return chosen{id: m.ID, note: fmt.Sprintf("using %s, the first model of %s (%s)", m.ID, found.name, found.from)}, nil
		}
	}
	return chosen{}, advise(fmt.Errorf("%s lists no model that can chat", found.name), "name one with -m %s/NAME", found.name)
}

// firstThatAnswers tries all endpoints that were found, at the same time. The
// offline model always answers.
func (w *wiring) firstThatAnswers(ctx context.Context) *client {
	up := make([]bool, len(w.clients))
	var wait sync.WaitGroup
	for i, c := range w.clients {
		switch {
		case c.name == offlineName, !c.auto:
			up[i] = true
		case !c.remote:
			wait.Go(func() { up[i] = c.usable(ctx) })
		}
	}
	wait.Wait()
	return w.clients[slices.Index(up, true)]
}

// listTime bounds what an endpoint that was only found may take to show that it
// is one.
const listTime = 3 * time.Second

// usable says whether an endpoint that was found lists a model to chat with.
func (c *client) usable(ctx context.Context) bool {
	if !c.answers(ctx) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	listed, err := c.list(ctx)
	return err == nil && slices.ContainsFunc(listed, func(m assistant.ModelInfo) bool { return !m.NoChat })
}

// model is the model of a run that cannot choose later: the one that is named,
// else the first there is.
func (a *app) model(ctx context.Context, w *wiring, store history.Store) (chosen, error) {
	c, err := a.namedModel(ctx, w, store, "")
	if err != nil {
		return c, err
	}
	if c.id == "" {
		first, err := w.firstModel(ctx)
		if err != nil {
			return c, err
		}
		c.id, c.note = first.id, c.note+first.note
	}
	return c, w.describe(c.id)
}

// describe tells the registry what the catalogue knows of a model that the
// endpoint was not asked about.
func (w *wiring) describe(id string) error {
	_, _, info, err := w.registry.Open(id)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(id, "/")
	if c := w.client(name); info.Context == 0 {
		if known, ok := models.Info(id); ok {
			info = merged(info, known)
		}
		if info.Context == 0 {
			info.Context = c.window
		}
		w.registry.Learn(info)
	}
	return nil
}

// cutID is the provider and the name of a model.
func cutID(id string) (provider, name string, ok bool) { return strings.Cut(id, "/") }
