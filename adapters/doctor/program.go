package doctor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"winnow/adapters/config"
	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// endpointProblems maps the kind of a failed request to a kind of problem.
var endpointProblems = map[llm.Kind]Kind{
	llm.KindAuth: BadKey, llm.KindQuota: NoQuota, llm.KindNet: NoAnswer, llm.KindModel: NoSuchModel,
}

// Endpoint asks an endpoint for its models; model is the model in the settings. An endpoint at a default address is
// reported only if it responds.
func Endpoint(ctx context.Context, e *endpoints.Endpoint, model string) []Finding {
	f := Pass("endpoint", "%s at %s (%s)", e.Name, e.BaseURL, e.From)
	switch {
	case e.Remote:
		f = Pass("endpoint", "%s at %s (%s) is used only if you name it", e.Name, e.BaseURL, e.From)
		f.Next = "winnow --provider " + e.Name
		return []Finding{f}
	case e.Auto && !e.Responds(ctx):
		return nil
	case e.Name == endpoints.OfflineName:
		f.Detail = e.Name + ", " + e.From
	}
	switch {
	case e.Key == config.Hidden:
		f.Detail += ", key in the settings file"
	case e.Key != "":
		f.Detail += ", key from " + e.Key
	}
	listed, err := e.List(ctx)
	name, own := strings.CutPrefix(model, e.Name+"/")
	known := slices.ContainsFunc(listed, func(m llm.ModelInfo) bool { return m.ID == name || m.ID == model })
	chat := slices.DeleteFunc(slices.Clone(listed), func(m llm.ModelInfo) bool { return m.NoChat })
	detail := f.Detail + ": " + assistant.Counted(len(chat), "model") // the models that the model picker shows
	switch {
	case err != nil:
		f = Fail("endpoint", endpointProblem(e, err), errors.New(f.Detail+": "+endpoints.Reason(err)), e.BaseURL)
	case len(chat) == 0:
		f = Problem("endpoint", Warning, NoModels, detail, e.BaseURL)
	case own && !known:
		f = Problem("endpoint", Failed, ModelGone, detail+"; "+string(safetext.Visible(model))+", the model in the settings, is not among them", string(safetext.Visible(model)))
	default:
		f.Detail = detail
	}
	return []Finding{f}
}

// endpointProblem returns the kind of problem of an endpoint that did not list its models.
func endpointProblem(e *endpoints.Endpoint, err error) Kind {
	kind, known := endpointProblems[llm.KindOf(err)]
	switch _, noKey := errors.AsType[*endpoints.KeyError](err); {
	case noKey && strings.HasPrefix(e.Key, "keyring:"):
		return NoKeyring
	case noKey:
		return NoKey
	case !known:
		return Refused
	}
	return kind
}

// History examines the history, or reports err if the history could not be opened.
func History(ctx context.Context, store history.Health, err error) Finding {
	if _, newer := errors.AsType[*history.NewerSchemaError](err); newer {
		return Fail("history", NewerSchema, err, "")
	}
	var r history.CheckReport
	if err == nil {
		r, err = store.Check(ctx)
	}
	storage, isStorage := errors.AsType[*history.StorageError](err)
	switch {
	case isStorage && strings.HasPrefix(storage.Path, "postgres://"):
		return Fail("history", NoHistoryServer, err, "")
	case err != nil:
		return Fail("history", NoHistory, err, "")
	case len(r.Problems) > 0:
		return Problem("history", Failed, Damaged, strings.Join(r.Problems, "; "), "")
	}
	return Pass("history", "%s is intact: %s in %s", store.Path(), assistant.Counted(r.Pairs, "message"), assistant.Counted(r.Sessions, "session"))
}

// Journal checks whether another program is changing the rules of a window; path is the path of its journal.
func Journal(window, path string) Finding {
	if held := checkpoint.Writer(path); held != nil {
		return Problem("rules", Warning, WindowHeld, string(safetext.Visible(held.Holder())+" is changing the rules now"), string(safetext.Visible(cmp.Or(held.Program, "the other winnow"))))
	}
	return Pass("rules", "no other program is changing %s", window)
}

// Proxy checks whether the proxy serves models that the rules hide. It returns nothing if no proxy responds.
func Proxy(ctx context.Context, filter *modelfilter.Window, lists *models.Lists) []Finding {
	served, err := lists.Served(ctx)
	if err != nil {
		return nil // there is no proxy, or the check of its endpoint reports the error
	}
	extra := 0
	for _, p := range filter.Providers() {
		if s, err := filter.On(p.Name); err == nil {
			extra += len(served.Compare(s.Provider(), s.Expected(served.IDs...)).Extra)
		}
	}
	if extra > 0 {
		return []Finding{Problem("proxy", Warning, StaleProxy, "the proxy still serves "+assistant.Counted(extra, "model")+" that the rules hide", "")}
	}
	return []Finding{Pass("proxy", "the proxy serves no model that the rules hide")}
}

// Use reports rules that hide models in use, and shown models that have not been used for 90 days. If the use of all
// models is unknown, it reports only the reasons, if there are any.
func Use(filter *modelfilter.Window) []Finding {
	var out []Finding
	var rules []string
	known, unused := false, 0
	for _, p := range filter.Providers() {
		s, err := filter.On(p.Name)
		if err != nil {
			continue
		}
		f := s.UseFindings()
		if f.Problem != "" {
			out = append(out, Problem("use", Warning, BadUsage, f.Problem, ""))
		}
		for _, r := range f.Rules {
			rules = append(rules, p.Name+": "+string(r.Text))
		}
		known, unused = known || f.Known, unused+len(f.Unused)
	}
	if len(rules) > 0 {
		out = append(out, Problem("use", Warning, UsedHidden, "models in use are hidden by "+strings.Join(rules, "; "), ""))
	}
	if unused > 0 {
		out = append(out, Problem("use", Warning, UnusedShown, assistant.Counted(unused, "model")+" shown but not used for 90 days", ""))
	}
	if known && len(out) == 0 {
		out = append(out, Pass("use", "no rule hides a model that was used in the last 7 days"))
	}
	return out
}
