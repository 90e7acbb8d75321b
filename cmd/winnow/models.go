package main

import (
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
)

func modelsCommand(a *app) *cobra.Command {
	var refresh, drift, chat bool
	c := &cobra.Command{
		Use: "models", Short: "List the providers of the .env file and their models", Args: args(0, 0),
		Long: "The lists come from the last refresh, else from the catalogue of this program.\n" +
			"--provider names one provider. --chat lists the models that can answer you instead.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case chat:
				return a.chatModels(cmd.Context())
			case drift:
				return a.modelDrift(cmd.Context())
			}
			return a.modelList(cmd.Context(), refresh)
		},
	}
	c.Flags().BoolVar(&refresh, "refresh", false, "ask the providers, or the proxy, for their models")
	c.Flags().BoolVar(&drift, "drift", false, "compare what the proxy serves with what the rules say")
	c.Flags().BoolVar(&chat, "chat", false, "the endpoints and models to choose from with -m")
	exclusive(c, "refresh", "drift", "chat")
	return c
}

// modelJSON is a model as --json prints it.
type modelJSON struct {
	ID       string  `json:"id"`
	Status   string  `json:"status,omitempty"`
	Rule     string  `json:"rule,omitempty"`
	New      bool    `json:"new,omitempty"`
	Context  int     `json:"context_window"` // 0 is unknown
	Known    bool    `json:"context_known"`
	PriceIn  float64 `json:"price_in"` // US dollars for a million tokens; both 0: unknown
	PriceOut float64 `json:"price_out"`
}

// modelsOf is a provider as --json prints it.
type modelsOf struct {
	Provider  string      `json:"provider"`
	Source    string      `json:"source"`
	At        string      `json:"at,omitempty"`
	Partial   bool        `json:"partial,omitempty"`
	Problem   string      `json:"problem,omitempty"`
	Available int         `json:"available"`
	Total     int         `json:"total"`
	Models    []modelJSON `json:"models"`
}

func (a *app) modelList(ctx context.Context, refresh bool) error {
	w, err := a.openFilter(ctx, false)
	if err != nil {
		return err
	}
	names, scopes, err := a.scopes(w.filter, hasKey)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return advise(fmt.Errorf("%s names no provider", w.name),
			"add a key such as OPENAI_API_KEY=… to it, or name one with --provider")
	}
	failed := 0
	all := []modelsOf{}
	for i, name := range names {
		problem := ""
		if refresh {
			a.progress("asking for the models of %s (%d of %d)", name, i+1, len(names))
			if r, err := w.filter.Refresh(ctx, name); err != nil {
				problem = err.Error()
				failed++
			} else {
				problem = r.Problem
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		list, err := w.filter.ModelList(name)
		if err != nil {
			return err
		}
		all = append(all, a.modelsOf(w, name, scopes[i], list, problem))
	}
	a.progressEnd()
	if err := a.printModels(all); err != nil {
		return err
	}
	for _, p := range all {
		if p.Problem != "" && refresh {
			a.say("%s: %s", p.Provider, p.Problem)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s of %d could not be refreshed; the lists stay as they were", assistant.Counted(failed, "provider"), len(names))
	}
	return nil
}

func (a *app) modelsOf(w *openWindow, name string, s modelfilter.Scope, list modelfilter.ModelList, problem string) modelsOf {
	counts := s.Counts()
	p := modelsOf{Provider: name, Source: list.Source, Partial: list.Partial, Problem: problem, Available: counts.Available, Total: counts.Total, Models: []modelJSON{}}
	if !list.At.IsZero() {
		p.At = list.At.UTC().Format(time.RFC3339)
	}
	for _, m := range s.Models() {
		info, _ := w.lists.Info(m.ID)
		p.Models = append(p.Models, modelJSON{m.ID, m.Status.String(), m.Rule, m.New, info.Context, info.Known, info.PriceIn, info.PriceOut})
	}
	return p
}

func (a *app) printModels(all []modelsOf) error {
	if a.flags.json {
		return a.printJSON(map[string]any{"providers": all})
	}
	rows := [][]string{}
	for _, p := range all {
		for _, m := range p.Models {
			status := map[string]string{engine.Normal.String(): "available", engine.Ignored.String(): "hidden", engine.Whitelisted.String(): "allowed"}[m.Status]
			if m.New {
				status += ", new"
			}
			rows = append(rows, []string{shown(m.ID), status, shown(m.Rule), tokens(m.Context, m.Known), price(m.PriceIn, m.PriceOut)})
		}
	}
	columns := []column{{title: "model"}, {title: "status"}, {title: "rule"}, {title: "context", right: true}, {title: "$ / 1M in, out", right: true}}
	if err := a.table(columns, rows); err != nil {
		return err
	}
	for _, p := range all {
		if err := a.print("%s: %d of %d available, from %s", p.Provider, p.Available, p.Total, sourceWords(p)); err != nil {
			return err
		}
	}
	return nil
}

func sourceWords(p modelsOf) string {
	switch {
	case p.Source == "":
		return "nowhere: no models are known; winnow models --refresh asks for them"
	case p.At != "":
		return fmt.Sprintf("%s, %s", p.Source, p.At)
	}
	return "the " + p.Source
}

func tokens(n int, known bool) string {
	if n == 0 {
		return ""
	}
	if known {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("~%d", n)
}

func price(in, out float64) string {
	if in == 0 && out == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f, %.2f", in, out)
}

// driftJSON is the difference of one provider.
type driftJSON struct {
	Provider string   `json:"provider"`
	Missing  []string `json:"missing"` // the rules say available, the proxy does not serve it
	Extra    []string `json:"extra"`   // the proxy serves it, the rules say hidden
	Same     int      `json:"same"`
	Source   string   `json:"source"` // where the models are known from
}

// modelDrift holds what the proxy serves against the rules of the file: those it
// reads when it starts.
func (a *app) modelDrift(ctx context.Context) error {
	w, err := a.openFilter(ctx, false)
	if err != nil {
		return err
	}
	names, scopes, err := a.scopes(w.filter, hasKey)
	if err != nil {
		return err
	}
	served, err := w.lists.Served(ctx)
	if err != nil {
		return advise(err, "start the proxy, or set PROXY_BASE_URL and PROXY_API_KEY in %s", w.name)
	}
	if w.filter.Dirty() {
		a.say("the rules of the file are compared, without what is staged: winnow rules diff shows that")
	}
	out := []driftJSON{}
	drifted := false
	for i, name := range names {
		diff := served.Drift(name, scopes[i].Expected(served.IDs...))
		drifted = drifted || diff.Any()
		list, err := w.filter.ModelList(name)
		if err != nil {
			return err
		}
		out = append(out, driftJSON{name, append([]string{}, diff.Missing...), append([]string{}, diff.Extra...), diff.Same, list.Source})
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"drift": drifted, "providers": out})
	}
	return a.printDrift(out, drifted)
}

func (a *app) printDrift(all []driftJSON, drifted bool) error {
	for _, p := range all {
		note := ""
		if p.Source == models.SourceCatalogue && len(p.Missing) > 0 {
			note = " (the models are known from the catalogue only: winnow models --refresh tells which there are)"
		}
		if err := a.print("%s: %d as the rules say, %d missing%s, %d too many", p.Provider, p.Same, len(p.Missing), note, len(p.Extra)); err != nil {
			return err
		}
		for _, id := range p.Missing {
			if err := a.print("  - %s", shown(id)); err != nil {
				return err
			}
		}
		for _, id := range p.Extra {
			if err := a.print("  + %s", shown(id)); err != nil {
				return err
			}
		}
	}
	if drifted {
		return a.print("the proxy reads its rules when it starts: save, then restart it")
	}
	return a.print("the proxy serves what the rules say")
}

// endpointJSON is a place that answers, with its models.
type endpointJSON struct {
	Name    string      `json:"name"`
	BaseURL string      `json:"base_url,omitempty"`
	From    string      `json:"from"`
	Problem string      `json:"problem,omitempty"`
	Models  []modelJSON `json:"models"`
}

// chatModels lists the models of every endpoint that answers. An endpoint that
// the user set up and that does not is a failure; one that was only looked for
// on its usual port is not.
func (a *app) chatModels(ctx context.Context) error {
	set, err := a.openEndpoints(0)
	if err != nil {
		return err
	}
	var asked []*endpoints.Endpoint
	var names []string
	for _, e := range set.All {
		if !e.Auto || !e.Remote && (e.Name == endpoints.OfflineName || e.Answers(ctx)) {
			asked, names = append(asked, e), append(names, e.Name)
		}
	}
	a.progress("asking %s", assistant.Counted(len(asked), "endpoint"))
	failed := set.Registry.Refresh(ctx, names...)
	a.progressEnd()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := []endpointJSON{}
	rows := [][]string{}
	var faults []error
	for _, e := range asked {
		one := endpointJSON{Name: e.Name, BaseURL: e.BaseURL, From: e.From, Models: []modelJSON{}}
		for _, m := range set.Registry.Models() {
			if name, _, _ := strings.Cut(m.ID, "/"); name != e.Name || m.NoChat {
				continue
			}
			one.Models = append(one.Models, modelJSON{ID: m.ID, Context: m.Context, Known: m.Known, PriceIn: m.PriceIn, PriceOut: m.PriceOut})
			rows = append(rows, []string{shown(m.ID), tokens(m.Context, m.Known), price(m.PriceIn, m.PriceOut)})
		}
		if err := failed[e.Name]; err != nil {
			one.Problem = requestWords(err)
			fault := advise(fmt.Errorf("%s (%s) does not list its models: %s", e.Name, e.BaseURL, one.Problem), "%s", kindAdvice(string(assistant.KindOf(err))))
			if e.Auto {
				a.say("%v", fault)
			} else {
				faults = append(faults, fault)
			}
		}
		out = append(out, one)
	}
	err = a.emit(map[string]any{"endpoints": out}, func() error {
		return a.table([]column{{title: "model"}, {title: "context", right: true}, {title: "$ / 1M in, out", right: true}}, rows)
	})
	return errors.Join(err, errors.Join(faults...))
}

// requestWords is a failed request in the endpoint's words, else its own.
func requestWords(err error) string {
	var r *assistant.RequestError
	if errors.As(err, &r) && r.Message != "" {
		return fmt.Sprintf("%s: %s", r.Kind, r.Message)
	}
	return err.Error()
}
