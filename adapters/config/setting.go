package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings holds the values in effect. Use Load; the zero value is not the default. The tags of a field are the key,
// the default, what the setting accepts (one of a list, whose first entry is the default, or a range) and a help
// clause.
type Settings struct {
	Model                string        `key:"model" help:"PROVIDER/NAME of the model to start with"`
	Window               string        `key:"window" one:"model-filter, history" help:"what the assistant works on"`
	History              string        `key:"history" help:"postgres:// address of a team's history; empty means a local file"`
	HistoryPassword      Secret        `key:"history_password" help:"password of the history's database, as env:NAME, cmd:COMMAND or keyring:NAME"`
	HistoryListen        string        `key:"history_listen" help:"postgres:// address without a pooler, for notifications, if history goes through pgbouncer"`
	User                 string        `key:"user" help:"your name in a team's history; empty means the database role"`
	Visibility           string        `key:"visibility" one:"session, own, team" help:"the messages that a new session shows first"`
	SendKey              string        `key:"send_key" one:"ctrl+enter, enter" help:"the key that sends"`
	Confirm              string        `key:"confirm" one:"save, always, never" help:"which of the assistant's tools ask for confirmation"`
	MaxIterations        int           `key:"max_iterations" default:"5" range:"1 to 100" help:"rounds of tool calls in a turn"`
	CharsPerToken        float64       `key:"chars_per_token" default:"3.5" range:"0.5 to 20" help:"characters in a token, for estimates"`
	UserRequestAllowance int           `key:"user_request_allowance" default:"100" range:"0 to 1000000" help:"tokens reserved for the message"`
	MaxTrimAttempts      int           `key:"max_trim_attempts" default:"10" range:"0 to 1000" help:"messages that may be dropped if a request is too long"`
	ContextTokens        int           `key:"context_tokens" default:"16000" range:"500 to 1000000" help:"tokens of the window's context"`
	LongReply            string        `key:"long_reply" one:"stay, top, view" help:"if a reply is longer than the screen: stay, go to its first line, or move the focus to it"`
	Pane                 string        `key:"pane" one:"beside, full, away" help:"the window's pane: beside the chat, over the whole width while it has the focus, or away"`
	ConnectTimeout       time.Duration `key:"connect_timeout" default:"10s" help:"time limit for connecting, and between two pieces of a list of models"`
	FirstByteTimeout     time.Duration `key:"first_byte_timeout" default:"5m0s" help:"time limit for the first piece of an answer"`
	IdleTimeout          time.Duration `key:"idle_timeout" default:"2m0s" help:"time limit between two pieces of an answer"`
	Theme                string        `key:"theme" one:"auto, dark, light" help:"the colours"` // see Background
	Mouse                bool          `key:"mouse" default:"false" help:"use the mouse from the start"`
	HUD                  bool          `key:"hud" default:"false" help:"dock the context HUD from the start"`
	Notify               bool          `key:"notify" default:"false" help:"notify when a long turn ends out of sight"`
	Plain                bool          `key:"plain" default:"false" help:"print lines instead of using the alternate screen"`
	LocalServers         bool          `key:"local_servers" default:"true" help:"look for Ollama, LM Studio and llama.cpp on this machine"`
	SessionIdle          time.Duration `key:"session_idle" default:"24h0m0s" help:"how long until winnow serve closes an unused HTTP session; its conversation can be continued"`
	ProxyData            string        `key:"proxy_data" help:"the proxy's data folder, which contains usage/; empty means the folder of the .env"`
	AfterSave            Words         `key:"after_save" help:"a command that runs after each save, without a shell, such as a restart of the proxy"`
	Log                  string        `key:"log" one:"file, stderr" help:"where winnow serve logs"`
	LogFormat            string        `key:"log_format" one:"json, text" help:"the format of the log"`
	LogLevel             string        `key:"log_level" one:"info, error, warning, debug" help:"how much is logged"`

	Keys       []Binding
	Providers  []Provider
	MCPServers []MCPServer
	Targets    []Target

	Path    string            // the file
	Found   bool              // the file exists
	Origins map[string]Origin // by key
	themes  []string          // Options.Themes
}

// Binding replaces the keys of an action in one mode; it is a line of [keys.MODE].
type Binding struct {
	Mode   string
	Action string
	Keys   []string // empty if the action has no key
	Line   int
}

// Origin is where a value comes from: "flag", "environment", "file" or "default".
type Origin struct {
	From string
	Name string // the flag, the variable or the path of the file; "" for a default
	Line int    // the line in the file; 0 otherwise
}

// String returns FILE:LINE, the flag or variable, or "default".
func (o Origin) String() string {
	switch {
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case o.Name != "":
		return o.Name
	}
	return o.From
}

// Setting describes a key that a user can set.
type Setting struct {
	Key     string
	Default string
	Help    string // one clause

	field   int      // index of the field in Settings
	choices []string // nil if any text is accepted
	limits  string   // range of a number
	themes  []string // Options.Themes, only for the key theme
}

// All lists the settings in the order of the template. themes is Options.Themes.
func All(themes []string) []Setting {
	var all []Setting
	of := reflect.TypeFor[Settings]()
	for i := range of.NumField() {
		tag := of.Field(i).Tag
		k := Setting{Key: tag.Get("key"), Default: tag.Get("default"), Help: tag.Get("help"), field: i, limits: tag.Get("range")}
		if k.Key == "" {
			continue
		}
		if one := tag.Get("one"); one != "" {
			k.choices = strings.Split(one, ", ")
			k.Default = k.choices[0]
			if k.Key == "theme" {
				k.choices, k.themes = append(k.choices, themes...), themes
			}
			k.Help += ": " + k.list()
		}
		all = append(all, k)
	}
	return all
}

func find(key string, themes []string) (Setting, bool) {
	all := All(themes)
	i := slices.IndexFunc(all, func(k Setting) bool { return k.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

// Env returns the environment variable of the setting.
func (k Setting) Env() string { return "WINNOW_" + strings.ToUpper(k.Key) }

// Type describes the type of value that the setting takes.
func (k Setting) Type() string {
	switch k.value(&Settings{}).Interface().(type) {
	case bool:
		return "true or false"
	case time.Duration:
		return "time"
	case string, Secret:
		return "text"
	case Words:
		return "command"
	}
	return "number from " + k.limits
}

// Show returns the value in effect in a form that the setting accepts.
func (k Setting) Show(s *Settings) string { return fmt.Sprint(k.value(s).Interface()) }

func (k Setting) value(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem().Field(k.field) }

// literal returns a value as TOML.
func (k Setting) literal(value string) string {
	if k.Type() == "command" {
		words, _ := SplitWords(value) // the value was accepted
		return Words(words).toml()
	}
	if t := k.Type(); t == "text" || t == "time" {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	return value
}

// set parses v and stores it in s.
func (k Setting) set(s *Settings, v string) error {
	value, err := k.parse(k.value(s).Interface(), v)
	if err == nil {
		k.value(s).Set(reflect.ValueOf(value))
	}
	return err
}

// setList stores a list from the file in s.
func (k Setting) setList(s *Settings, list []any) error {
	if k.Type() != "command" {
		return errors.New("a single value is expected, not a list")
	}
	words := make(Words, 0, len(list))
	for _, item := range list {
		word, ok := item.(string)
		if !ok {
			return errors.New("is not a list of words")
		}
		words = append(words, word)
	}
	if len(words) > 0 && words[0] == "" {
		return errors.New("the first word, the program, is empty")
	}
	k.value(s).Set(reflect.ValueOf(words))
	return nil
}

// Words is a command split into words, which runs without a shell. It may be empty.
type Words []string

// String returns the words in a form that SplitWords reads.
func (w Words) String() string {
	quoted := make([]string, len(w))
	for i, word := range w {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// toml returns the words as a TOML list.
func (w Words) toml() string {
	quoted := make([]string, len(w))
	for i, word := range w {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(word) + `"`
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// parse parses v as a value of the same type as current.
func (k Setting) parse(current any, v string) (any, error) {
	switch current.(type) {
	case bool:
		b, err := strconv.ParseBool(v)
		if err != nil {
			return nil, fmt.Errorf("%s is neither true nor false", quoted(v))
		}
		return b, nil
	case time.Duration:
		d, err := time.ParseDuration(v)
		if n, bare := strconv.Atoi(v); bare == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d <= 0 || d > 24*time.Hour {
			return nil, fmt.Errorf("%s is not a duration of at most 24h, such as 90s or 2m", quoted(v))
		}
		return d, nil
	case Secret:
		return Secret(v), nil
	case Words:
		words, err := SplitWords(v)
		return Words(words), err
	case string:
		if k.choices != nil && !slices.Contains(k.choices, v) && !slices.Contains(k.themes, withoutBackground(v)) {
			return nil, fmt.Errorf("%s is not one of %s%s", quoted(v), k.list(), suggestion(v, k.choices))
		}
		return v, nil
	}
	var least, most float64
	_, _ = fmt.Sscanf(k.limits, "%g to %g", &least, &most) // the tag is valid
	_, whole := current.(int)
	f, err := strconv.ParseFloat(v, 64)
	inRange := f >= least && f <= most // false for NaN
	switch {
	case whole && err == nil && inRange && f == float64(int(f)):
		return int(f), nil
	case whole:
		return nil, fmt.Errorf("%s is not a whole number from %s", quoted(v), k.limits)
	case err != nil || !inRange:
		return nil, fmt.Errorf("%s is not a number from %s", quoted(v), k.limits)
	}
	return f, nil
}

// The suffixes of a theme's name that select a background.
const (
	onDark  = "-dark"
	onLight = "-light"
)

func withoutBackground(theme string) string {
	return strings.TrimSuffix(strings.TrimSuffix(theme, onDark), onLight)
}

// list describes the values that a setting with choices accepts. A theme follows the terminal's background unless its
// name has a suffix.
func (k Setting) list() string {
	list := strings.Join(k.choices, ", ")
	if len(k.themes) > 0 {
		list += fmt.Sprintf("; the last %d also with %s or %s at the end", len(k.themes), onDark, onLight)
	}
	return list
}

// Background splits Theme into the name of the theme ("" for the default theme) and the background: "auto", "dark" or
// "light".
func (s *Settings) Background() (name, background string) {
	switch name = withoutBackground(s.Theme); {
	case s.Theme == "dark", s.Theme == "light":
		return "", s.Theme
	case name == "auto":
		return "", name
	case name == s.Theme:
		return name, "auto"
	}
	return name, s.Theme[len(name)+1:]
}
