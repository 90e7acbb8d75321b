package modelfilter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

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
	source    *dotenv.Source
	tree      *dotenv.Tree
	order     []string // names, those of the file first, in its order
	providers map[string]*provider
	notices   []string
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
	r := &reading{
		source: source, tree: dotenv.LoadTree(source, w.opts.Environ()),
		providers: map[string]*provider{}, notices: slices.Clone(source.Notices),
	}
	for _, err := range r.tree.Errors {
		r.notices = append(r.notices, fmt.Sprintf("The proxy reads another file: %v.", err))
	}
	for _, p := range source.File.Problems() {
		r.notices = append(r.notices, fmt.Sprintf("%s:%d: %s", source.Path, p.Line, p.Text))
	}
	for _, key := range r.tree.Keys() {
		r.readVariable(key)
	}
	r.addNotices()
	return r
}

func (r *reading) readVariable(key string) {
	for list, prefix := range listPrefix {
		if name, ok := strings.CutPrefix(key, prefix); ok && name != "" {
			r.readList(key, &r.provider(name).lists[list])
			return
		}
	}
	name, _, ok := strings.Cut(key, keyMark)
	if !ok || name == "" || key == proxyKey {
		return
	}
	p := r.provider(name)
	o, _ := r.tree.Lookup(key)
	p.named, p.key = true, p.key || o.Value != ""
}

func (r *reading) readList(key string, l *ruleList) {
	raw, here := r.source.File.Raw(key)
	if here {
		l.vars = append(l.vars, key)
	}
	o, ok := r.tree.Lookup(key)
	if !ok {
		return
	}
	*l = ruleList{vars: l.vars, origin: o.String(), saved: items(o.Value)}
	switch {
	case o.Path == "":
		l.env, l.wins, l.saved = true, l.saved, nil
		l.fixed = fmt.Sprintf("the environment variable %s decides them and wins over %s: unset it and start winnow and the proxy again to edit them here", key, r.fileName())
		if here {
			value, _ := r.source.File.Get(key, r.environ)
			l.saved = items(value)
		}
	case o.Path != r.source.Path:
		l.other = true
	case strings.Contains(raw, "${"):
		l.fixed = fmt.Sprintf("%s sets %s from other variables (${…}): edit that line by hand", o, key)
	case !utf8.ValidString(raw):
		l.fixed = fmt.Sprintf("%s is not valid UTF-8, so that the proxy cannot read the file: edit that line by hand", o)
	}
}

// items are the rules of a value, which is UTF-8 in the state of the window.
func items(value string) []string {
	return dotenv.SplitList(strings.ToValidUTF8(value, "\uFFFD"))
}

// provider returns the provider whose name, in any case, a variable contains.
func (r *reading) provider(name string) *provider {
	name = strings.ToLower(name)
	p := r.providers[name]
	if p == nil {
		p = &provider{name: name}
		r.providers[name] = p
		r.order = append(r.order, name)
	}
	return p
}

// addNotices tells of the lists that are not simply the file's.
func (r *reading) addNotices() {
	for _, name := range r.order {
		for list, l := range r.providers[name].lists {
			what := fmt.Sprintf("%s rules of %s", List(list), name)
			switch {
			case l.fixed != "":
				r.notices = append(r.notices, fmt.Sprintf("The %s cannot be edited: %s.", what, l.fixed))
			case l.other:
				r.notices = append(r.notices, fmt.Sprintf("The %s come from %s; a save writes them to %s, which wins.", what, l.origin, r.fileName()))
			}
			if n := len(l.vars); n > 1 {
				r.notices = append(r.notices, fmt.Sprintf("%s names the %s %d times; %s counts.", r.fileName(), what, n, l.vars[n-1]))
			}
		}
	}
}

func (r *reading) fileName() string { return filepath.Base(r.source.Path) }

// environ looks a variable up in the real environment.
func (r *reading) environ(name string) (string, bool) {
	o, ok := r.tree.Lookup(name)
	return o.Value, ok && o.Path == ""
}

// onRead says what becomes of staged rules when the file is read anew.
type onRead int

const (
	dropStaged    onRead = iota // the file's rules take their place
	retainStaged                // they stay as they are
	mergeStaged                 // what was staged is done to the file's rules
	mergeOrReport               // mergeStaged, but lists that both sides changed are a conflict
)

// adopt takes over what was read.
func (w *Window) adopt(r *reading, what onRead) {
	w.source, w.notices = r.source, append(r.notices, w.versions.Notices()...)
	for name := range r.providers {
		w.providerNamed(name)
	}
	for name, p := range w.providers {
		found := r.providers[name]
		if found == nil {
			found = &provider{}
		}
		p.named, p.key = found.named, found.key
		for list, l := range found.lists {
			old := p.lists[list]
			switch what {
			case dropStaged:
				l.rules = slices.Clone(l.saved)
			case retainStaged:
				l.rules = old.rules
			default:
				l.rules = mergeRules(old.saved, old.rules, l.saved)
			}
			p.lists[list] = l
		}
		p.sync()
	}
	w.reorder(r.order)
	w.revision++
}
