package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Error is a configuration that cannot be used: one sentence for the user.
type Error struct {
	Path   string // the file; "" when the value came from elsewhere
	Line   int    // 0 when no line is to blame
	Where  string // the key, flag or variable
	Reason string
}

// Error says where, what and what would do.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	return b.String() + e.Reason
}

// Provider is an endpoint of the configuration.
type Provider struct {
	Name          string            `toml:"name"`
	BaseURL       string            `toml:"base_url"`
	APIKey        Secret            `toml:"api_key"`
	Headers       map[string]Secret `toml:"headers"`
	Models        []string          `toml:"models"`         // names; none: the endpoint is asked
	ContextWindow int               `toml:"context_window"` // of models whose window nobody knows; 0 is unknown
	AllowHTTP     bool              `toml:"allow_http"`     // consent to an unencrypted connection
	Line          int               `toml:"-"`
}

// providerKeys are the keys of a [[provider]].
var providerKeys = []string{"name", "base_url", "api_key", "headers", "models", "context_window", "allow_http"}

// modes are the tables that [keys.MODE] can stand for.
var modes = []string{"input", "view", "command", "pane"}

// entry is one key of the file with its line and, for scalars, its text.
type entry struct {
	path []string // array tables carry their number: provider, 0, name
	line int
	text string
	list []string // of an array of strings
	kind unstable.Kind
}

// entries lists all keys of a file in order.
func entries(data []byte) ([]entry, error) {
	var p unstable.Parser
	p.Reset(data)
	var out []entry
	var table []string
	count := map[string]int{}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			table, _ = names(&p, e)
		case unstable.ArrayTable:
			var line int
			table, line = names(&p, e)
			name := strings.Join(table, ".")
			table = append(table, strconv.Itoa(count[name]))
			count[name]++
			out = append(out, entry{path: slices.Clone(table), line: line, kind: unstable.ArrayTable})
		case unstable.KeyValue:
			out = append(out, values(&p, e, table)...)
		default:
		}
	}
	return out, p.Error()
}

// values is one key and what it holds; an inline table is its keys.
func values(p *unstable.Parser, e *unstable.Node, table []string) []entry {
	key, line := names(p, e)
	path := slices.Concat(table, key)
	v := e.Value()
	if v.Kind == unstable.InlineTable {
		var out []entry
		for it := v.Children(); it.Next(); {
			for _, inner := range values(p, it.Node(), path) {
				inner.line = line
				out = append(out, inner)
			}
		}
		return out
	}
	found := entry{path: path, line: line, text: string(v.Data), kind: v.Kind}
	if v.Kind == unstable.Array {
		for it := v.Children(); it.Next(); {
			found.list = append(found.list, string(it.Node().Data))
		}
	}
	return []entry{found}
}

func names(p *unstable.Parser, e *unstable.Node) (path []string, line int) {
	for it := e.Key(); it.Next(); {
		if line == 0 {
			line = p.Shape(it.Node().Raw).Start.Line
		}
		path = append(path, string(it.Node().Data))
	}
	return path, line
}

// readFile puts what the file says into s, or tells all that is wrong with it.
func (s *Settings) readFile(path string, data []byte) error {
	found, err := entries(data)
	if err == nil {
		err = toml.Unmarshal(data, &map[string]any{}) // doubles and other faults between lines
	}
	if err != nil {
		return syntaxError(path, data, err)
	}
	known := map[string]Setting{}
	for _, k := range All(s.themes) {
		known[k.Key] = k
	}
	var faults []error
	for _, e := range found {
		fault := func(where, format string, args ...any) {
			faults = append(faults, &Error{path, e.line, where, fmt.Sprintf(format, args...)})
		}
		switch k, ok := known[e.path[0]]; {
		case ok && len(e.path) == 1:
			if e.list != nil || e.kind == unstable.Array {
				fault(k.Key, "takes one value, not a list")
			} else if err := k.set(s, e.text); err != nil {
				fault(k.Key, "%v", err)
			} else {
				s.Origins[k.Key] = Origin{"file", path, e.line}
			}
		case ok:
			fault(strings.Join(e.path, "."), "%s is a single value", e.path[0])
		case e.path[0] == "keys":
			s.addBinding(e, fault)
		case e.path[0] == "provider" && len(e.path) > 1 && isNumber(e.path[1]):
			checkProvider(e, fault)
		case e.path[0] == "provider":
			fault("provider", "write [[provider]] with double brackets, once for each endpoint")
		default:
			fault("", "%s is not a setting%s", quoted(strings.Join(e.path, ".")), hint(e.path[0], settingNames()))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return s.readProviders(path, data, found)
}

func (s *Settings) addBinding(e entry, fault func(where, format string, args ...any)) {
	where := strings.Join(e.path, ".")
	switch {
	case len(e.path) != 3:
		fault(where, "write [keys.MODE] and below it ACTION = \"key\" or a list of keys")
	case !slices.Contains(modes, e.path[1]):
		fault("", "%s is not a mode%s", quoted(e.path[1]), hint(e.path[1], modes))
	case e.kind == unstable.String:
		b := Binding{Mode: e.path[1], Action: e.path[2], Line: e.line}
		if e.text != "" {
			b.Keys = []string{e.text}
		}
		s.Keys = append(s.Keys, b)
	case e.kind == unstable.Array:
		s.Keys = append(s.Keys, Binding{Mode: e.path[1], Action: e.path[2], Keys: e.list, Line: e.line})
	default:
		fault(where, "is neither a key nor a list of keys")
	}
}

func checkProvider(e entry, fault func(where, format string, args ...any)) {
	if len(e.path) > 2 && !slices.Contains(providerKeys, e.path[2]) {
		fault("", "%s is not a key of a provider%s", quoted(e.path[2]), hint(e.path[2], providerKeys))
	}
}

// readProviders decodes the [[provider]] list, whose keys are known to exist.
func (s *Settings) readProviders(path string, data []byte, found []entry) error {
	var doc struct {
		Provider []Provider `toml:"provider"`
	}
	if err := toml.Unmarshal(data, &doc); err != nil {
		return syntaxError(path, data, err)
	}
	for _, e := range found {
		if e.kind == unstable.ArrayTable && e.path[0] == "provider" && len(e.path) == 2 {
			if i, _ := strconv.Atoi(e.path[1]); i < len(doc.Provider) {
				doc.Provider[i].Line = e.line
			}
		}
	}
	taken := map[string]int{}
	for _, p := range doc.Provider {
		switch {
		case p.Name == "":
			return &Error{path, p.Line, "provider", `name is missing; it stands before the "/" of its models`}
		case strings.ContainsAny(p.Name, "/ \t"):
			return &Error{path, p.Line, "provider", fmt.Sprintf("the name %s must hold no slash and no space", quoted(p.Name))}
		case p.BaseURL == "":
			return &Error{path, p.Line, "provider " + p.Name, "base_url is missing, for example https://api.openai.com/v1"}
		case p.ContextWindow < 0:
			return &Error{path, p.Line, "provider " + p.Name, "context_window is below zero"}
		case taken[p.Name] > 0:
			return &Error{path, p.Line, "provider " + p.Name, fmt.Sprintf("the name is taken by line %d", taken[p.Name])}
		}
		taken[p.Name] = p.Line
	}
	s.Providers = doc.Provider
	return nil
}

// syntaxError turns the parser's words, which may quote a line with a key in
// it, into a place and a reason.
func syntaxError(path string, data []byte, err error) error {
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ := at.Position()
		return &Error{path, line, "", strings.TrimPrefix(at.Error(), "toml: ")}
	}
	var parser *unstable.ParserError
	if errors.As(err, &parser) {
		line := 0
		if at := lineOf(data, parser.Highlight); at > 0 {
			line = at
		}
		return &Error{path, line, "", parser.Message}
	}
	return &Error{path, 0, "", "is not TOML"}
}

// lineOf is the line of a slice of data; 0 when it is none.
func lineOf(data, part []byte) int {
	for i := range data {
		if len(part) > 0 && &data[i] == &part[0] {
			return 1 + strings.Count(string(data[:i]), "\n")
		}
	}
	return 0
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func settingNames() []string {
	names := []string{"keys", "provider"}
	for _, s := range All(nil) {
		names = append(names, s.Key)
	}
	return names
}
