package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/tui/plain"
)

func modelsCommand(a *app) *cobra.Command {
	var refresh, drift, chat, changes bool
	var where string
	c := command("models", "List the providers of the .env file and their models", 0, 0, func(ctx context.Context, _ []string) error {
		if chat {
			return a.chatModels(ctx)
		}
		w, err := a.openAskedFilter(ctx, toRead)
		if err != nil {
			return err
		}
		scopes, err := a.scopes(w.filter, true)
		switch {
		case err != nil:
			return err
		case drift:
			return a.modelDrift(ctx, w, scopes)
		case where != "":
			found, err := a.findModels(w, where)
			if err != nil {
				return err
			}
			return a.printFound(found, "no model matches")
		case changes:
			return a.modelChanges(w, scopes)
		case len(scopes) == 0:
			return advise(fmt.Errorf("%s contains no provider", w.name), "add a key such as OPENAI_API_KEY=… to it, or use --provider NAME")
		}
		return a.modelList(ctx, w, scopes, refresh)
	})
	c.Long = "The models of a provider come from its own list, from the proxy and, unless its list is complete, from the\n" +
		"built-in catalogue. The last column says where each model is listed; \"cache\" means a list fetched earlier.\n" +
		"--provider selects one provider. --chat instead lists the models that you can talk to."
	c.Flags().BoolVar(&refresh, "refresh", false, "fetch the lists of models from the providers or the proxy")
	c.Flags().BoolVar(&drift, "drift", false, "compare the models that the proxy serves with the rules")
	c.Flags().BoolVar(&chat, "chat", false, "list the endpoints and models that -m accepts")
	c.Flags().StringVar(&where, "where", "", whereHelp)
	c.Flags().BoolVar(&changes, "changes", false, "list models that are new, gone, deprecated or repriced since you last looked")
	exclusive(c, "refresh", "drift", "chat", "where", "changes")
	return c
}

// modelJSON is the JSON form of a model.
type modelJSON struct {
	ID       string         `json:"id"`
	Status   *engine.Status `json:"status,omitempty"` // nil in the list of chat models
	Rule     string         `json:"rule,omitempty"`
	New      bool           `json:"new,omitempty"`
	Context  int            `json:"context_window"` // 0 if unknown
	Known    bool           `json:"context_known"`
	PriceIn  llm.Price      `json:"price_in"` // US dollars per million tokens; null if unknown
	PriceOut llm.Price      `json:"price_out"`
	Facts    llm.Facts      `json:"facts"`
	Source   string         `json:"source,omitempty"`    // where the facts come from: "live", "proxy", "cache", "catalogue" or "config"
	ListedBy string         `json:"listed_by,omitempty"` // where a provider's model is listed: "live", "proxy", "cache" or "catalogue"
}

// newModelJSON returns the JSON form of a model without its status.
func newModelJSON(m llm.ModelInfo) modelJSON {
	return modelJSON{ID: m.ID, Context: m.Context, Known: m.Known, PriceIn: m.Facts.PriceIn, PriceOut: m.Facts.PriceOut, Facts: m.Facts, Source: m.Source}
}

// facts returns the context window in tokens, prefixed with "~" if it is a guess, and the prices; "" means unknown.
func (m modelJSON) facts() (window, price string) {
	if m.Context > 0 {
		window = fmt.Sprint(m.Context)
		if !m.Known {
			window = "~" + window
		}
	}
	if m.PriceIn.Known || m.PriceOut.Known {
		price = cmp.Or(m.PriceIn.String(), "?") + ", " + cmp.Or(m.PriceOut.String(), "?")
	}
	return window, price
}

// providerJSON is the JSON form of a provider.
type providerJSON struct {
	Provider  string      `json:"provider"`
	Source    string      `json:"source"`
	At        string      `json:"at,omitempty"`
	Partial   bool        `json:"partial,omitempty"`
	Problem   string      `json:"problem,omitempty"`
	Available int         `json:"available"`
	Total     int         `json:"total"`
	Models    []modelJSON `json:"models"`

	from string // the sources of the models, in words
}

func (a *app) modelList(ctx context.Context, w *journaledWindow, scopes []modelfilter.Scope, refresh bool) error {
	failedCount := 0
	var all []providerJSON
	var rows [][]string
	var summaries []string
	for i, s := range scopes {
		problem := ""
		if refresh {
			a.progress("fetching the models of %s (%d of %d)", s.Provider(), i+1, len(scopes))
			r, err := w.filter.Refresh(ctx, s.Provider())
			if problem = r.Err; err != nil {
				problem = err.Error()
				failedCount++
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		p, err := providerModels(w, s)
		if err != nil {
			return err
		}
		p.Problem = problem
		all = append(all, p)
		for _, m := range p.Models {
			status := m.Status.Word()
			if m.New {
				status += ", new"
			}
			window, price := m.facts()
			rows = append(rows, []string{visible(m.ID), status, visible(m.Rule), window, price, m.ListedBy})
		}
		summary := fmt.Sprintf("%s: %d of %d shown, %s %s", p.Provider, p.Available, p.Total, p.from, p.At)
		if p.Source == "" {
			summary = p.Provider + ": no models known; winnow models --refresh fetches the list"
		}
		summaries = append(summaries, strings.TrimSpace(summary))
	}
	a.progress("")
	text := append(plain.Table("", []string{"model", "status", "rule", ">context", ">$ / 1M in, out", "listed by"}, rows), summaries...)
	if err := a.emit(map[string]any{"providers": all}, text...); err != nil {
		return err
	}
	for _, p := range all {
		if p.Problem != "" {
			a.printErr("%s: %s", p.Provider, p.Problem)
		}
	}
	if failedCount > 0 {
		return fmt.Errorf("%d of %s could not be refreshed; the earlier lists stay in use", failedCount, assistant.Counted(len(scopes), "provider"))
	}
	return nil
}

func providerModels(w *journaledWindow, s modelfilter.Scope) (providerJSON, error) {
	known, err := w.filter.ModelList(s.Provider())
	if err != nil {
		return providerJSON{}, err
	}
	counts := s.Counts()
	p := providerJSON{Provider: s.Provider(), Source: known.Source, Partial: known.Partial, Available: counts.Shown, Total: counts.Total, Models: []modelJSON{}, from: modelfilter.SourcesText(known)}
	if !known.At.IsZero() {
		p.At = known.At.UTC().Format(time.RFC3339)
	}
	for _, m := range s.Models() {
		info, _ := w.lists.Info(m.ID)
		info.ID = m.ID
		model := newModelJSON(info)
		model.Status, model.Rule, model.New, model.ListedBy = &m.Status, m.Rule, m.New, m.Source
		p.Models = append(p.Models, model)
	}
	return p, nil
}

// newsJSON is the JSON form of a change to a model.
type newsJSON struct {
	Provider string `json:"provider"`
	Change   string `json:"change"` // "new", "vanished", "deprecated" or "repriced"
	modelJSON
	PriceInBefore  llm.Price `json:"price_in_before"` // only for a repriced model
	PriceOutBefore llm.Price `json:"price_out_before"`
}

// modelChanges lists what has changed about the models since the user last looked at them
// in the program.
func (a *app) modelChanges(w *journaledWindow, scopes []modelfilter.Scope) error {
	out, rows := []newsJSON{}, [][]string{}
	for _, s := range scopes {
		news, err := w.filter.News(s.Provider())
		if err != nil {
			return err
		}
		for _, n := range news {
			j := newsJSON{Provider: n.Provider, Change: string(n.Kind), modelJSON: newModelJSON(n.Model.Info), PriceInBefore: n.PriceIn, PriceOutBefore: n.PriceOut}
			window, status := "", ""
			if n.Kind != models.Vanished {
				x := s.Explain(n.ID)
				j.Status, j.Rule, status = &x.Status, x.Rule, x.Status.Word()
			}
			if c := n.Context(); c > 0 {
				window = fmt.Sprint(c)
			}
			j.New = n.Kind == models.Appeared
			out = append(out, j)
			rows = append(rows, []string{n.Word(), visible(n.ID), status, window, n.Price()})
		}
	}
	return a.emit(map[string]any{"changes": out}, plain.Table("no model has changed since you last looked", []string{"change", "model", "status", ">context", ">$ / 1M in, out"}, rows)...)
}

// driftJSON describes how the models that the proxy serves for one provider differ from the rules.
type driftJSON struct {
	Provider string `json:"provider"`
	models.Drift
	Source string `json:"source"` // where the list of models comes from
}

// modelDrift compares the models that the proxy serves with the rules of the file, which the proxy reads when it
// starts.
func (a *app) modelDrift(ctx context.Context, w *journaledWindow, scopes []modelfilter.Scope) error {
	served, err := w.lists.Served(ctx)
	if err != nil {
		return advise(err, "start the proxy, or set PROXY_BASE_URL and PROXY_API_KEY in %s", w.name)
	}
	if w.filter.Dirty() {
		a.printErr("staged changes are not compared: winnow rules diff shows them")
	}
	out := []driftJSON{}
	var lines []string
	drifted := false
	for _, s := range scopes {
		known, err := w.filter.ModelList(s.Provider())
		if err != nil {
			return err
		}
		diff, note := served.Compare(s.Provider(), s.Expected(served.IDs...)), ""
		drifted = drifted || diff.Any()
		if known.Source == models.SourceCatalogue {
			note = " (the provider's model list is unknown, so there is nothing to compare with: winnow models --refresh fetches it)"
		}
		out = append(out, driftJSON{s.Provider(), models.Drift{Missing: nonNil(diff.Missing), Extra: nonNil(diff.Extra), Same: diff.Same}, known.Source})
		lines = append(lines, fmt.Sprintf("%s: %d as expected, %d missing%s, %d extra", s.Provider(), diff.Same, len(diff.Missing), note, len(diff.Extra)))
		for _, id := range diff.Missing {
			lines = append(lines, "  - "+visible(id))
		}
		for _, id := range diff.Extra {
			lines = append(lines, "  + "+visible(id))
		}
	}
	next := "no difference found between the proxy and the rules"
	if drifted {
		next = "the proxy reads its rules when it starts: restart it after saving"
	}
	return a.emit(map[string]any{"drift": drifted, "providers": out}, append(lines, next)...)
}

// endpointJSON is the JSON form of an endpoint and its models.
type endpointJSON struct {
	Name    string      `json:"name"`
	BaseURL string      `json:"base_url,omitempty"`
	From    string      `json:"from"`
	Problem string      `json:"problem,omitempty"`
	Models  []modelJSON `json:"models"`
}

// chatModels lists the models of the endpoints that the user configured and of the others that respond on this
// machine. If a configured endpoint does not respond, the command fails.
func (a *app) chatModels(ctx context.Context) error {
	set, err := a.openEndpoints(openOptions{})
	if err != nil {
		return err
	}
	var asked []*endpoints.Endpoint
	var names []string
	for _, e := range set.All {
		if !e.Auto || !e.Remote && (e.Name == endpoints.OfflineName || e.Responds(ctx)) {
			asked, names = append(asked, e), append(names, e.Name)
		}
	}
	a.progress("asking %s", assistant.Counted(len(asked), "endpoint"))
	errs := set.Registry.Refresh(ctx, names...)
	a.progress("")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := []endpointJSON{}
	var rows [][]string
	var failures []error
	for _, e := range asked {
		endpoint := endpointJSON{Name: e.Name, BaseURL: e.BaseURL, From: e.From, Models: []modelJSON{}}
		for _, m := range set.Registry.Models() {
			if name, _, _ := strings.Cut(m.ID, "/"); name == e.Name && !m.NoChat {
				model := newModelJSON(m)
				endpoint.Models = append(endpoint.Models, model)
				window, price := model.facts()
				rows = append(rows, []string{visible(m.ID), window, price})
			}
		}
		if err := errs[e.Name]; err != nil {
			endpoint.Problem = endpoints.Reason(err)
			failure := advise(fmt.Errorf("%s (%s) does not list its models: %s", e.Name, e.BaseURL, endpoint.Problem), "%s", requestAdvice(string(llm.KindOf(err))))
			if e.Auto {
				a.printErr("%v", failure)
			} else {
				failures = append(failures, failure)
			}
		}
		out = append(out, endpoint)
	}
	err = a.emit(map[string]any{"endpoints": out}, plain.Table("", []string{"model", ">context", ">$ / 1M in, out"}, rows)...)
	return errors.Join(append(failures, err)...)
}
