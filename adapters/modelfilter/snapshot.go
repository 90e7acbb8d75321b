package modelfilter

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/adapters/dotenv"
)

// The names of the proxy's key variables: keyInfix follows a provider's name, and proxyKey is the
// variable of the proxy's own key.
const (
	keyInfix = "_API_KEY"
	proxyKey = "PROXY_API_KEY"
)

// listPrefix contains the prefix of each list's variables; the name of the provider follows it.
var listPrefix = [...]string{Ignore: "IGNORE_MODELS_", Allow: "WHITELIST_MODELS_"}

// envSnapshot holds the contents of the files and the environment for all providers.
type envSnapshot struct {
	source    *dotenv.Source
	tree      *dotenv.Tree
	ownKeys   []string // Options.OwnKeys
	order     []string // provider names: first those in the file, in its order
	providers map[string]*provider
	notices   []string
}

// read reads the file, the other files that the proxy reads, and the environment.
func (w *Window) read(ctx context.Context) (*envSnapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	source, err := dotenv.Load(w.opts.EnvFile)
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be read: %w", err)
	}
	return w.newSnapshot(source), nil
}

// newSnapshot reads the environment and the other files that the proxy reads along with
// source. It never fails: what cannot be read becomes a notice.
func (w *Window) newSnapshot(source *dotenv.Source) *envSnapshot {
	s := &envSnapshot{
		source: source, tree: dotenv.LoadTree(source, w.opts.Environ()),
		ownKeys: w.opts.OwnKeys, providers: map[string]*provider{}, notices: slices.Clone(source.Notices),
	}
	for _, err := range s.tree.Errors {
		s.notices = append(s.notices, fmt.Sprintf("The proxy also reads a file that winnow cannot read: %v.", err))
	}
	for _, p := range source.File.Problems() {
		s.notices = append(s.notices, fmt.Sprintf("%s:%d: %s", source.Path, p.Line, p.Text))
	}
	for _, key := range s.tree.Keys() {
		s.readVariable(key)
	}
	s.addNotices()
	return s
}

func (s *envSnapshot) readVariable(key string) {
	for list, prefix := range listPrefix {
		if name, ok := strings.CutPrefix(key, prefix); ok && name != "" {
			s.readList(key, &s.provider(name).lists[list])
			return
		}
	}
	name, _, ok := strings.Cut(key, keyInfix)
	if !ok || name == "" || key == proxyKey {
		return
	}
	o, _ := s.tree.Lookup(key)
	if o.Path == "" && s.source.File.Line(key) == 0 && slices.Contains(s.ownKeys, key) {
		return
	}
	p := s.provider(name)
	p.hasKeyVariable, p.hasKey = true, p.hasKey || o.Value != ""
}

func (s *envSnapshot) readList(key string, l *ruleList) {
	raw, here := s.source.File.Raw(key)
	if here {
		l.vars = append(l.vars, key)
	}
	o, ok := s.tree.Lookup(key)
	if !ok {
		return
	}
	*l = ruleList{vars: l.vars, origin: o.String(), saved: items(o.Value)}
	switch {
	case o.Path == "":
		l.fromEnv, l.envRules, l.saved = true, l.saved, nil
		l.fixed = fmt.Sprintf("the environment variable %s overrides %s; to edit the rules here, unset the variable and restart winnow and the proxy", key, s.fileName())
		if here {
			value, _ := s.source.File.Get(key, s.environ)
			l.saved = items(value)
		}
	case o.Path != s.source.Path:
		l.fromOtherFile = true
	case strings.Contains(raw, "${"):
		l.fixed = fmt.Sprintf("%s sets %s from other variables (${…}): edit that line by hand", o, key)
	case !utf8.ValidString(raw):
		l.fixed = fmt.Sprintf("%s is not valid UTF-8, so the proxy cannot read the file: edit that line by hand", o)
	}
}

// items returns the rules in a value as valid UTF-8, as required in the window's state.
func items(value string) []string {
	return dotenv.SplitList(strings.ToValidUTF8(value, "\uFFFD"))
}

// provider returns the provider with this name in lower case, creating it if necessary.
func (s *envSnapshot) provider(name string) *provider {
	name = strings.ToLower(name)
	p := s.providers[name]
	if p == nil {
		p = &provider{name: name}
		s.providers[name] = p
		s.order = append(s.order, name)
	}
	return p
}

// addNotices adds notices about lists that cannot be edited, come from another file, or are
// set more than once.
func (s *envSnapshot) addNotices() {
	for _, name := range s.order {
		for list, l := range s.providers[name].lists {
			what := fmt.Sprintf("%s rules of %s", List(list), name)
			switch {
			case l.fixed != "":
				s.notices = append(s.notices, fmt.Sprintf("The %s cannot be edited: %s.", what, l.fixed))
			case l.fromOtherFile:
				s.notices = append(s.notices, fmt.Sprintf("The %s come from %s; a save writes them to %s, which takes precedence.", what, l.origin, s.fileName()))
			}
			if n := len(l.vars); n > 1 {
				s.notices = append(s.notices, fmt.Sprintf("%s sets the %s %d times; %s takes effect.", s.fileName(), what, n, l.vars[n-1]))
			}
		}
	}
}

func (s *envSnapshot) fileName() string { return filepath.Base(s.source.Path) }

// environ looks up a variable in the real environment.
func (s *envSnapshot) environ(name string) (string, bool) {
	o, ok := s.tree.Lookup(name)
	return o.Value, ok && o.Path == ""
}

// stagedPolicy determines what happens to staged rules when the file is read again.
type stagedPolicy int

const (
	dropStaged    stagedPolicy = iota // the file's rules replace the staged rules
	retainStaged                      // the staged rules are not changed
	mergeStaged                       // the staged changes are applied to the file's rules
	mergeOrReport                     // like mergeStaged, but changes that contradict each other are a conflict
)

// mergedLists returns the lists that p would have if s were adopted. p is not changed.
func mergedLists(p *provider, s *envSnapshot, policy stagedPolicy) (lists [2]ruleList) {
	if found := s.providers[p.name]; found != nil {
		lists = found.lists
	}
	for i := range lists {
		l, old := &lists[i], &p.lists[i]
		l.by = old.by
		switch policy {
		case dropStaged:
			l.rules = slices.Clone(l.saved)
		case retainStaged:
			l.rules = old.rules
		default:
			l.rules = mergeRules(old.saved, old.rules, l.saved)
		}
	}
	return lists
}

// adopt makes s the state of the window. If the file was deleted, the rules stay and become
// unsaved, so that the next save writes them again; with dropStaged, they are dropped, too.
func (w *Window) adopt(s *envSnapshot, policy stagedPolicy) {
	if policy != dropStaged && w.source != nil && w.source.Exists && !s.source.Exists {
		policy = retainStaged
	}
	w.source, w.notices = s.source, append(s.notices, w.versions.Notices()...)
	for name := range s.providers {
		w.providerNamed(name)
	}
	for name, p := range w.providers {
		found := s.providers[name]
		if found == nil {
			found = &provider{}
		}
		lists := mergedLists(p, s, policy)
		same := p.hasKey == found.hasKey && reflect.DeepEqual(lists, p.lists)
		p.hasKeyVariable, p.hasKey, p.lists = found.hasKeyVariable, found.hasKey, lists
		if !same {
			p.updateEngine()
			w.touch(p)
		}
	}
	w.reorder(s.order)
	w.changed()
}
