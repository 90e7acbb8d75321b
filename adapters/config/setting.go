package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are the values in force. Load makes them; the zero value is not the
// default.
type Settings struct {
	Model     string // "provider/name"; "" is the one used last, or the first
	SendKey   string // "ctrl+enter" or "enter"
	Confirm   string // "save", "always" or "never"
	LongReply string // long_reply: "stay" or "view"
	Theme     string // "auto", "dark", "light", or a name of Options.Themes, which may end in "-dark" or "-light"
	LogLevel  string // "error", "warning", "info" or "debug"
	Window    string // "model-filter" or "history"

	MaxIterations        int
	ContextTokens        int
	UserRequestAllowance int
	MaxTrimAttempts      int
	CharsPerToken        float64

	ConnectTimeout   time.Duration
	FirstByteTimeout time.Duration
	IdleTimeout      time.Duration

	Mouse        bool
	Notify       bool
	Plain        bool
	LocalServers bool // look for servers on this machine's usual ports

	Keys      []Binding
	Providers []Provider

	// Path is the file that was read; Found is false when there is none.
	Path    string
	Found   bool
	Origins map[string]Origin // by key

	themes []string // Options.Themes
}

// Binding replaces the keys of an action in one mode: a line of [keys.MODE].
type Binding struct {
	Mode   string
	Action string
	Keys   []string // none: the action has no key
	Line   int
}

// Origin is where a value comes from: "flag", "environment", "file" or "default".
type Origin struct {
	From string
	Name string // the flag or variable; the path of the file
	Line int    // in the file
}

// String is FILE:LINE, the flag or variable, or "default".
func (o Origin) String() string {
	switch {
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case o.Name != "":
		return o.Name
	}
	return o.From
}

// Setting is a key that a user can set.
type Setting struct {
	Key     string
	Default string
	Help    string // one clause

	// Show is the value in force, in a form that the setting accepts.
	Show func(*Settings) string

	quoted bool // a TOML string, not a number or a truth value
	set    func(*Settings, string) error
}

// Env is the environment variable that sets it.
func (s Setting) Env() string { return "WINNOW_" + strings.ToUpper(s.Key) }

// literal is a value as TOML.
func (s Setting) literal(value string) string {
	if !s.quoted {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// All lists the settings in the order of the template. themes are
// Options.Themes.
func All(themes []string) []Setting {
	return []Setting{
		text("model", "", "PROVIDER/NAME of the model to begin with", func(s *Settings) *string { return &s.Model }),
		choice("window", "what the assistant works on", func(s *Settings) *string { return &s.Window }, "model-filter", "history"),
		choice("send_key", "the key that sends", func(s *Settings) *string { return &s.SendKey }, "ctrl+enter", "enter"),
		choice("confirm", "which tools of the assistant ask first", func(s *Settings) *string { return &s.Confirm }, "save", "always", "never"),
		number("max_iterations", 5, 1, 100, "rounds of tool calls in a turn", func(s *Settings) *int { return &s.MaxIterations }),
		number("chars_per_token", 3.5, 0.5, 20, "characters in a token, for estimates", func(s *Settings) *float64 { return &s.CharsPerToken }),
		number("user_request_allowance", 100, 0, 1_000_000, "tokens reserved for the message", func(s *Settings) *int { return &s.UserRequestAllowance }),
		number("max_trim_attempts", 10, 0, 1000, "pairs that may be dropped when a request is too long", func(s *Settings) *int { return &s.MaxTrimAttempts }),
		number("context_tokens", 16_000, 500, 1_000_000, "tokens of the window's context", func(s *Settings) *int { return &s.ContextTokens }),
		choice("long_reply", "where the focus goes when a reply is longer than the screen", func(s *Settings) *string { return &s.LongReply }, "stay", "view"),
		span("connect_timeout", 10*time.Second, "until there is a connection", func(s *Settings) *time.Duration { return &s.ConnectTimeout }),
		span("first_byte_timeout", 300*time.Second, "until the first piece of an answer", func(s *Settings) *time.Duration { return &s.FirstByteTimeout }),
		span("idle_timeout", 120*time.Second, "between two pieces of an answer", func(s *Settings) *time.Duration { return &s.IdleTimeout }),
		theme(themes),
		flag("mouse", false, "use the mouse from the start", func(s *Settings) *bool { return &s.Mouse }),
		flag("notify", false, "notify when a long turn ends out of sight", func(s *Settings) *bool { return &s.Notify }),
		flag("plain", false, "no alternate screen, lines only", func(s *Settings) *bool { return &s.Plain }),
		flag("local_servers", true, "look for Ollama, LM Studio and llama.cpp on this machine", func(s *Settings) *bool { return &s.LocalServers }),
		choice("log_level", "how much is logged", func(s *Settings) *string { return &s.LogLevel }, "info", "error", "warning", "debug"),
	}
}

func find(key string, themes []string) (Setting, bool) {
	all := All(themes)
	i := slices.IndexFunc(all, func(k Setting) bool { return k.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

func text(key, std, help string, at func(*Settings) *string) Setting {
	return setting(key, std, help, at, func(v string) (string, error) { return v, nil })
}

// setting makes a Setting from the field that stores its value and the parser
// that checks it.
func setting[T any](key string, std T, help string, at func(*Settings) *T, parse func(string) (T, error)) Setting {
	set := func(s *Settings, v string) error {
		value, err := parse(v)
		if err == nil {
			*at(s) = value
		}
		return err
	}
	show := func(s *Settings) string { return fmt.Sprint(*at(s)) }
	quoted := false
	switch any(std).(type) {
	case string, time.Duration:
		quoted = true
	}
	return Setting{Key: key, Default: fmt.Sprint(std), Help: help, quoted: quoted, set: set, Show: show}
}

// choice accepts one of the values; the first is the default.
func choice(key, help string, at func(*Settings) *string, values ...string) Setting {
	list := strings.Join(values, ", ")
	return setting(key, values[0], help+": "+list, at, func(v string) (string, error) {
		if !slices.Contains(values, v) {
			return "", fmt.Errorf("%s is not one of %s", quoted(v), list)
		}
		return v, nil
	})
}

// The suffixes of a theme's name that select a background.
const (
	onDark  = "-dark"
	onLight = "-light"
)

// theme accepts a background for the default theme, or the name of a theme. A
// theme follows the terminal's background unless its name has a suffix.
func theme(names []string) Setting {
	known := append([]string{"auto", "dark", "light"}, names...)
	list := strings.Join(known, ", ")
	if len(names) > 0 {
		list += fmt.Sprintf("; the last %d also with %s or %s at the end", len(names), onDark, onLight)
	}
	return setting("theme", known[0], "the colours: "+list, func(s *Settings) *string { return &s.Theme }, func(v string) (string, error) {
		name := strings.TrimSuffix(strings.TrimSuffix(v, onDark), onLight)
		if slices.Contains(known, v) || name != v && slices.Contains(names, name) {
			return v, nil
		}
		near := Nearest(v, known)
		if near != "" {
			near = "; did you mean " + quoted(near) + "?"
		}
		return "", fmt.Errorf("%s is not one of %s%s", quoted(v), list, near)
	})
}

// Background splits Theme: the name of the theme, "" for the default one, and
// the background, "auto", "dark" or "light".
func (s *Settings) Background() (name, background string) {
	switch s.Theme {
	case "", "auto":
		return "", "auto"
	case "dark", "light":
		return "", s.Theme
	}
	if name, ok := strings.CutSuffix(s.Theme, onDark); ok {
		return name, "dark"
	}
	if name, ok := strings.CutSuffix(s.Theme, onLight); ok {
		return name, "light"
	}
	return s.Theme, "auto"
}

// number accepts an int or a float64 from least to most.
func number[T int | float64](key string, std, least, most T, help string, at func(*Settings) *T) Setting {
	kind := "number"
	if _, whole := any(std).(int); whole {
		kind = "whole number"
	}
	return setting(key, std, help, at, func(v string) (T, error) {
		f, err := strconv.ParseFloat(v, 64)
		n := T(f)
		if err != nil || float64(n) != f || n < least || n > most { // NaN is not equal to itself
			err = fmt.Errorf("%s is not a %s from %v to %v", quoted(v), kind, least, most)
		}
		return n, err
	})
}

// span accepts "90s" and "2m30s", and a bare number of seconds.
func span(key string, std time.Duration, help string, at func(*Settings) *time.Duration) Setting {
	return setting(key, std, help, at, func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if n, bare := strconv.Atoi(v); bare == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d <= 0 || d > 24*time.Hour {
			err = fmt.Errorf("%s is not a time such as 90s or 2m, at most 24h", quoted(v))
		}
		return d, err
	})
}

func flag(key string, std bool, help string, at func(*Settings) *bool) Setting {
	return setting(key, std, help, at, func(v string) (bool, error) {
		b, err := strconv.ParseBool(v)
		if err != nil {
			err = fmt.Errorf("%s is neither true nor false", quoted(v))
		}
		return b, err
	})
}
