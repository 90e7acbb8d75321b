package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"winnow/assistant/nearest"
	"winnow/assistant/safetext"
)

// Error is an invalid configuration, described in one sentence for the user.
type Error struct {
	Path   string // the file; "" if the value came from elsewhere
	Line   int    // from 1; 0 if the error has no line
	Where  string // the key, flag or variable
	Reason string
}

// Error returns "FILE:LINE: KEY: REASON" without the unknown parts.
func (e *Error) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
	}
	known := slices.DeleteFunc([]string{at, e.Where, e.Reason}, func(part string) bool { return part == "" })
	return strings.Join(known, ": ")
}

// Provider is an endpoint in the configuration.
type Provider struct {
	Name          string            `toml:"name" json:"name"`
	BaseURL       string            `toml:"base_url" json:"base_url"`
	APIKey        Secret            `toml:"api_key" json:"api_key,omitempty"`
	Headers       map[string]Secret `toml:"headers" json:"headers,omitempty"`
	Models        []string          `toml:"models" json:"models"`                           // names of the models; if empty, the endpoint is asked
	ContextWindow int               `toml:"context_window" json:"context_window,omitempty"` // in tokens, for models with an unknown window; 0 means unknown
	AllowHTTP     bool              `toml:"allow_http" json:"allow_http,omitempty"`         // allow an unencrypted connection
	Line          int               `toml:"-" json:"line"`                                  // line of its [[provider]], from 1
}

// providerKeys lists the keys of a [[provider]].
var providerKeys = []string{"name", "base_url", "api_key", "headers", "models", "context_window", "allow_http"}

// listKeys lists the keys of the entries of each list of tables, such as [[provider]].
var listKeys = map[string][]string{"provider": providerKeys, "mcp": mcpKeys, "target": targetKeys}

// entryNames contains the name that messages give to an entry of each list.
var entryNames = map[string]string{"provider": "a provider", "mcp": "an MCP server", "target": "a target"}

// Modes lists the values of MODE in [keys.MODE], which are the modes of the key table.
var Modes = []string{
	"input", "view", "command", "pane", "hud",
	"line", "list", "models", "sessions", "checkpoints", "topics", "filters", "settings", "text", "request",
	"question", "queue", "undo", "recovery", "editing",
}

// readFile copies the values in a file into s. The error is an *Error or, if several keys are wrong, several *Errors
// joined.
func (s *Settings) readFile(path string, data []byte) error {
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		return syntaxError(path, err)
	}
	var keys struct{ Keys map[string]struct{} }
	found, err := unknown(data, &keys)
	if err != nil {
		return syntaxError(path, err)
	}
	var faults []error
	lines := map[string][]int{} // line of each [[provider]], [[mcp]] and [[target]]
	for _, at := range found {
		name, line := at.Key(), lineOf(at)
		fault := func(where, format string, args ...any) {
			faults = append(faults, &Error{path, line, where, fmt.Sprintf(format, args...)})
		}
		switch k, known := find(name[0], s.themes); {
		case known && len(name) > 1:
			fault(strings.Join(name, "."), "%s takes a single value, not a table", name[0])
		case known:
			s.readSetting(k, values[k.Key], Origin{"file", path, line}, fault)
		case name[0] == "keys":
			s.readBinding(name, values, line, fault)
		case listKeys[name[0]] == nil:
			fault("", "%s is not a setting%s", quoted(strings.Join(name, ".")), hint(name[0], settingNames()))
		case len(name) == 1 || lines[name[0]] == nil:
			if _, ok := values[name[0]].([]any); !ok {
				fault(name[0], "write [[%s]] with double brackets, once for each entry", name[0])
			}
			lines[name[0]] = append(lines[name[0]], line)
		}
	}
	if faults != nil {
		return errors.Join(faults...)
	}
	return s.readLists(path, data, lines)
}

// readLists reads the lists of tables. lines contains the line of each entry.
func (s *Settings) readLists(path string, data []byte, lines map[string][]int) error {
	var entries struct { // entries without fields: a struct field would match its key in any case
		Provider []struct{}
		MCP      []struct{} `toml:"mcp"`
		Target   []struct{}
	}
	found, err := unknown(data, &entries)
	var faults []error
	for _, at := range found {
		name := at.Key()
		if keys := listKeys[name[0]]; keys != nil && !slices.Contains(keys, name[1]) {
			faults = append(faults, &Error{path, lineOf(at), "", quoted(name[1]) + " is not a key of " + entryNames[name[0]] + hint(name[1], keys)})
		}
	}
	if faults != nil {
		return errors.Join(faults...)
	}
	var list struct {
		Provider []Provider
		MCP      []MCPServer `toml:"mcp"`
		Target   []Target
	}
	if err = errors.Join(err, toml.Unmarshal(data, &list)); err != nil {
		return syntaxError(path, err)
	}
	s.Providers, s.MCPServers, s.Targets = list.Provider, list.MCP, list.Target
	return cmp.Or(s.checkProviders(path, lines["provider"]), s.checkMCP(path, lines["mcp"]), s.checkTargets(path, lines["target"]))
}

// unknown decodes data into doc and lists the keys and tables for which doc has no field, in file order. Of an
// unknown table, it lists only the name.
func unknown(data []byte, doc any) ([]toml.DecodeError, error) {
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(doc)
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) {
		return missing.Errors, nil
	}
	return nil, err
}

func lineOf(at toml.DecodeError) (line int) {
	line, _ = at.Position()
	return line
}

func (s *Settings) readSetting(k Setting, value any, from Origin, fault func(where, format string, args ...any)) {
	var err error
	switch value := value.(type) {
	case []any:
		err = k.setList(s, value)
	case map[string]any:
		err = errors.New("a single value is expected, not a table")
	default:
		err = k.set(s, fmt.Sprint(value))
	}
	if err != nil {
		fault(k.Key, "%v", err)
		return
	}
	s.Origins[k.Key] = from
}

// readBinding reads a line of [keys.MODE]: ACTION = "key" or a list of keys. The key "" removes all keys.
func (s *Settings) readBinding(name []string, values map[string]any, line int, fault func(where, format string, args ...any)) {
	where := strings.Join(name, ".")
	if len(name) != 3 {
		fault(where, "write [keys.MODE] followed by ACTION = \"key\" or a list of keys")
		return
	}
	if !slices.Contains(Modes, name[1]) {
		fault("", "%s is not a mode%s", quoted(name[1]), hint(name[1], Modes))
		return
	}
	value := any(values)
	for _, part := range name {
		value = value.(map[string]any)[part] // cannot fail: the decoder has found this path
	}
	b := Binding{Mode: name[1], Action: name[2], Line: line}
	switch value := value.(type) {
	case string:
		if value != "" {
			b.Keys = []string{value}
		}
	case []any:
		for _, key := range value {
			if text, ok := key.(string); ok {
				b.Keys = append(b.Keys, text)
			} else {
				fault(where, "is neither a key nor a list of keys")
				return
			}
		}
	default:
		fault(where, "is neither a key nor a list of keys")
		return
	}
	s.Keys = append(s.Keys, b)
}

// checkProviders sets the lines of the providers and returns the first error, or nil.
func (s *Settings) checkProviders(path string, lines []int) error {
	first := map[string]int{} // the line of each name
	for i := range s.Providers {
		p := &s.Providers[i]
		p.Line = lines[min(i, len(lines)-1)] // an array on one line has only one line number
		where, reason := "provider "+p.Name, ""
		switch {
		case p.Name == "":
			where, reason = "provider", `name is missing; it is the part of a model's id before the "/"`
		case strings.ContainsAny(p.Name, "/ \t"):
			where, reason = "provider", fmt.Sprintf("the name %s must not contain a slash or a space", quoted(p.Name))
		case p.BaseURL == "":
			reason = "base_url is missing; example: https://api.openai.com/v1"
		case p.ContextWindow < 0:
			reason = "context_window must not be negative"
		case first[p.Name] > 0:
			reason = fmt.Sprintf("the provider on line %d has the same name", first[p.Name])
		}
		if reason != "" {
			return &Error{path, p.Line, where, reason}
		}
		first[p.Name] = p.Line
	}
	return nil
}

// syntaxError converts an error of the TOML package to an *Error, without the excerpt of the file, which may contain
// a key.
func syntaxError(path string, err error) error {
	var decodeErr *toml.DecodeError
	if !errors.As(err, &decodeErr) {
		return &Error{path, 0, "", "is not valid TOML"}
	}
	reason := strings.TrimPrefix(decodeErr.Error(), "toml: ")
	if kind, ok := strings.CutPrefix(reason, "cannot decode TOML "); ok { // the remaining text names Go types
		kind, _, _ = strings.Cut(kind, " into")
		reason = "a value of type " + kind + " is not accepted here"
	}
	return &Error{path, lineOf(*decodeErr), "", reason}
}

func settingNames() []string {
	names := []string{"keys", "mcp", "provider", "target"}
	for _, s := range All(nil) {
		names = append(names, s.Key)
	}
	return names
}

// maxDistance is the largest edit distance at which a name is suggested. A larger value would match unrelated short
// names.
const maxDistance = 3

// Nearest returns the name that was most likely meant, or "" if none is close.
func Nearest(name string, names []string) string {
	if len(name) > maxQuoted {
		return ""
	}
	best, distance := "", min(maxDistance, utf8.RuneCountInString(name)/2)+1
	for _, n := range names {
		if d := nearest.Distance(strings.ToLower(name), n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// suggestion returns the end of a sentence that suggests the nearest name, or "".
func suggestion(name string, names []string) string {
	if n := Nearest(name, names); n != "" {
		return fmt.Sprintf("; did you mean %s?", quoted(n))
	}
	return ""
}

// hint returns the end of a sentence with a suggestion or, if no name is near, with all names. If there are too many
// for a message, it contains the command that lists them.
func hint(name string, names []string) string {
	const few = 10
	all := "; valid names: " + strings.Join(names, ", ")
	if len(names) > few {
		all = "; winnow help settings lists all names"
	}
	return cmp.Or(suggestion(name, names), all)
}

// maxQuoted is the maximum number of characters of a wrong value that an error message repeats.
const maxQuoted = 60

func quoted(s string) string {
	return string(`"` + safetext.Line(safetext.Visible(s), maxQuoted) + `"`)
}
