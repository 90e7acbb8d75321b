package modelfilter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
)

// The variables that the proxy reads, as it finds them: the key of a provider
// has keyMark somewhere in its name, a rule list begins with its prefix.
const (
	keyMark  = "_API_KEY"
	proxyKey = "PROXY_API_KEY"
)

// listPrefix begins the variables of a list.
var listPrefix = [...]string{Ignore: "IGNORE_MODELS_", Allow: "WHITELIST_MODELS_"}

// reading is what the files and the environment say of all providers.
type reading struct {
	source  *dotenv.Source
	order   []string // names, those of the file first, in its order
	at      map[string]*providerReading
	notices []string
}

// providerReading is what they say of one.
type providerReading struct {
	named bool // a variable for a key is there, be it empty
	key   bool // one of them has a value
	lists [2]listReading
}

// listReading is what they say of one list.
type listReading struct {
	vars   []string // the variables of the file that name the list, the deciding one last
	rules  []string // what a save would change: the file's, else another file's
	origin string   // where rules come from, ".env:12"; "" when there are none
	other  bool     // they come from another file

	fixed string   // why the list cannot be edited; "" when it can
	wins  []string // what counts in place of rules where the environment decides
	env   bool     // it does
}

// read reads the file, the files beside it and the environment anew.
func (w *Window) read(ctx context.Context) (*reading, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	source, err := dotenv.Load(w.opts.EnvFile)
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be read: %w", err)
	}
	return w.readAround(source), nil
}

// readAround reads what is around a file that is read already. It never
// fails: what cannot be read there is a notice.
func (w *Window) readAround(source *dotenv.Source) *reading {
	v := variables{Tree: dotenv.LoadTree(source, w.opts.Environ()), source: source}
	r := &reading{source: source, at: map[string]*providerReading{}, notices: slices.Clone(source.Notices)}
	for _, err := range v.Problems {
		r.notices = append(r.notices, fmt.Sprintf("The proxy reads another file: %v.", err))
	}
	for _, p := range source.File.Problems() {
		r.notices = append(r.notices, fmt.Sprintf("%s:%d: %s", source.Path, p.Line, p.Text))
	}
	for _, key := range v.Keys() {
		r.readVariable(v, key)
	}
	r.addNotices(v)
	return r
}

// readVariable reads one variable.
func (r *reading) readVariable(v variables, key string) {
	for list, prefix := range listPrefix {
		if name, ok := strings.CutPrefix(key, prefix); ok && name != "" {
			r.readList(v, key, &r.provider(strings.ToLower(name)).lists[list])
			return
		}
	}
	name, _, ok := strings.Cut(key, keyMark)
	if !ok || name == "" || key == proxyKey {
		return
	}
	p := r.provider(strings.ToLower(name))
	o, _ := v.Lookup(key)
	p.named, p.key = true, p.key || o.Value != ""
}

func (r *reading) readList(v variables, key string, l *listReading) {
	file := v.source.File
	raw, here := file.Raw(key)
	if here {
		l.vars = append(l.vars, key)
	}
	o, ok := v.Lookup(key)
	if !ok {
		return
	}
	*l = listReading{vars: l.vars, origin: o.String(), rules: dotenv.SplitList(o.Value)}
	switch {
	case o.Path == "":
		l.env, l.wins, l.rules = true, l.rules, nil
		l.fixed = fmt.Sprintf("the environment variable %s decides them and wins over %s: unset it and start winnow and the proxy again to edit them here", key, v.base())
		if here {
			value, _ := file.Get(key, v.environ)
			l.rules = dotenv.SplitList(value)
		}
	case o.Path != v.source.Path:
		l.other = true
	case strings.Contains(raw, "${"):
		l.fixed = fmt.Sprintf("%s sets %s from other variables (${…}): edit that line by hand", o, key)
	}
}

func (r *reading) provider(name string) *providerReading {
	p := r.at[name]
	if p == nil {
		p = &providerReading{}
		r.at[name] = p
		r.order = append(r.order, name)
	}
	return p
}

// addNotices tells of the lists that are not simply the file's.
func (r *reading) addNotices(v variables) {
	for _, name := range r.order {
		for _, list := range lists {
			switch l := r.at[name].lists[list]; {
			case l.fixed != "":
				r.notices = append(r.notices, fmt.Sprintf("The %s rules of %s cannot be edited: %s.", list, name, l.fixed))
			case l.other:
				r.notices = append(r.notices, fmt.Sprintf("The %s rules of %s come from %s; a save writes them to %s, which wins.", list, name, l.origin, v.base()))
			}
			if l := r.at[name].lists[list]; len(l.vars) > 1 {
				r.notices = append(r.notices, fmt.Sprintf("%s names the %s rules of %s %d times; %s counts.", v.base(), list, name, len(l.vars), l.vars[len(l.vars)-1]))
			}
		}
	}
}

// variables is what the proxy finds when it starts.
type variables struct {
	*dotenv.Tree
	source *dotenv.Source
}

// base is the name of the file.
func (v variables) base() string { return filepath.Base(v.source.Path) }

// environ looks a variable up in the real environment.
func (v variables) environ(name string) (string, bool) {
	o, ok := v.Lookup(name)
	return o.Value, ok && o.Path == ""
}
