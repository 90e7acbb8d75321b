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
	environ := w.opts.Environ()
	env := variables{file: source.File, env: map[string]string{}, base: filepath.Base(source.Path)}
	for _, pair := range environ {
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := env.env[key]; ok && key != "" && !twice {
			env.env[key] = value
		}
	}
	r := &reading{source: source, at: map[string]*providerReading{}, notices: slices.Clone(source.Notices)}
	if env.base == ".env" { // only that one does the proxy read together with others
		tree, err := dotenv.LoadTree(filepath.Dir(source.Path), environ)
		if err != nil {
			r.notices = append(r.notices, fmt.Sprintf("The files beside %s were not read: %v.", env.base, err))
		} else {
			env.tree = tree
			r.noteUnread(tree)
		}
	}
	for _, p := range source.File.Problems() {
		r.notices = append(r.notices, fmt.Sprintf("%s:%d: %s", source.Path, p.Line, p.Text))
	}
	for _, key := range env.keys() {
		r.take(env, key)
	}
	r.note(env)
	return r
}

// noteUnread tells of other files that the proxy reads and we cannot.
func (r *reading) noteUnread(tree *dotenv.Tree) {
	for _, f := range tree.Files {
		if f.Err != nil && f.Path != r.source.Path {
			r.notices = append(r.notices, fmt.Sprintf("%s was not read: %v.", f.Path, f.Err))
		}
	}
}

// take reads one variable.
func (r *reading) take(v variables, key string) {
	for list, prefix := range listPrefix {
		if name, ok := strings.CutPrefix(key, prefix); ok && name != "" {
			r.takeList(v, key, &r.provider(strings.ToLower(name)).lists[list])
			return
		}
	}
	name, _, ok := strings.Cut(key, keyMark)
	if !ok || name == "" || key == proxyKey {
		return
	}
	p := r.provider(strings.ToLower(name))
	value, _, _ := v.lookup(key)
	p.named, p.key = true, p.key || value != ""
}

func (r *reading) takeList(v variables, key string, l *listReading) {
	value, origin, ok := v.lookup(key)
	if _, here := v.file.Raw(key); here {
		l.vars = append(l.vars, key)
	}
	if !ok {
		return
	}
	*l = listReading{vars: l.vars, origin: origin.name}
	if origin.env {
		l.env, l.wins = true, dotenv.SplitList(value)
		l.fixed = fmt.Sprintf("the environment variable %s decides them and wins over %s: unset it and start winnow and the proxy again to edit them here", key, v.base)
		if value, inFile := v.file.Get(key, v.environ); inFile {
			l.rules = dotenv.SplitList(value)
		}
		return
	}
	l.rules, l.other = dotenv.SplitList(value), origin.other
	if raw, here := v.file.Raw(key); here && strings.Contains(raw, "${") {
		l.fixed = fmt.Sprintf("%s sets %s from other variables (${…}): edit that line by hand", origin.name, key)
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

// note tells of the lists that are not simply the file's.
func (r *reading) note(v variables) {
	for _, name := range r.order {
		for _, list := range lists {
			switch l := r.at[name].lists[list]; {
			case l.fixed != "":
				r.notices = append(r.notices, fmt.Sprintf("The %s rules of %s cannot be edited: %s.", list, name, l.fixed))
			case l.other:
				r.notices = append(r.notices, fmt.Sprintf("The %s rules of %s come from %s; a save writes them to %s, which wins.", list, name, l.origin, v.base))
			}
			if l := r.at[name].lists[list]; len(l.vars) > 1 {
				r.notices = append(r.notices, fmt.Sprintf("%s names the %s rules of %s %d times; %s counts.", v.base, list, name, len(l.vars), l.vars[len(l.vars)-1]))
			}
		}
	}
}

// variables is what the proxy finds when it starts.
type variables struct {
	env  map[string]string
	file *dotenv.File
	tree *dotenv.Tree // with the other files; nil when there are none to read
	base string       // name of the file
}

// where is the place that decides a variable.
type where struct {
	name  string // "the environment", ".env:12"
	env   bool
	other bool // another file
}

// lookup is the value that the proxy sees, and where it comes from.
func (v variables) lookup(key string) (value string, from where, ok bool) {
	if value, ok := v.env[key]; ok {
		return value, where{name: "the environment", env: true}, true
	}
	if value, ok := v.file.Get(key, v.environ); ok {
		return value, where{name: fmt.Sprintf("%s:%d", v.base, v.file.Line(key))}, true
	}
	if v.tree != nil {
		if o, _, ok := v.tree.Lookup(key); ok && o.Path != "" && filepath.Base(o.Path) != v.base {
			return o.Value, where{name: o.String(), other: true}, true
		}
	}
	return "", where{}, false
}

func (v variables) environ(name string) (string, bool) {
	value, ok := v.env[name]
	return value, ok
}

// keys lists all variables: the file's in its order, then all others by name.
func (v variables) keys() []string {
	inFile := v.file.Keys()
	known := map[string]bool{}
	for _, key := range inFile {
		known[key] = true
	}
	var rest []string
	for key := range v.env {
		if !known[key] {
			rest = append(rest, key)
		}
	}
	if v.tree != nil {
		for _, key := range v.tree.Keys() {
			if _, inEnv := v.env[key]; !inEnv && !known[key] {
				rest = append(rest, key)
			}
		}
	}
	slices.Sort(rest)
	return append(inFile, rest...)
}
