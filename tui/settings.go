package tui

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// setting is one line of the settings overlay. Its values are those of the
// config, mostly under the same key.
type setting struct {
	key    string
	title  string
	values []string
	words  map[string]string // what a value means, where it does not say so itself
	value  func(m *Model) string
	set    func(m *Model, value string) tea.Cmd
	stored func(m *Model) (key, value string) // in the config; nil: key and value
}

// storedAs is what to write into the config.
func (s setting) storedAs(m *Model) (key, value string) {
	if s.stored != nil {
		return s.stored(m)
	}
	return s.key, s.value(m)
}

// inWords is a value in words.
func (s setting) inWords(value string) string {
	if words := s.words[value]; words != "" {
		return words
	}
	return value
}

// next is the value after this one; the first after one that is not offered.
func (s setting) next(value string) string {
	return s.values[(slices.Index(s.values, value)+1)%len(s.values)]
}

// settings can be changed while the program runs.
func settings() []setting {
	all := []setting{
		{
			key: "confirm", title: "The assistant asks before", values: []string{"save", "always", "never"},
			words: map[string]string{"save": "it saves", "always": "every change", "never": "nothing"},
			value: func(m *Model) string { return string(orElse(m.session.Settings().Confirm, assistant.ConfirmSave)) },
			set:   setSession(func(s *assistant.Settings, v string) { s.Confirm = assistant.ConfirmPolicy(v) }),
		},
		number("max_iterations", "Rounds of tool calls in a turn", []string{"3", "5", "10", "20"},
			func(s assistant.Settings) int { return orElse(s.Limits.Iterations, defaultIterations) },
			func(s *assistant.Settings, n int) { s.Limits.Iterations = n }),
		number("user_request_allowance", "Tokens kept free for your next message", []string{"100", "500", "2000", "8000"},
			func(s assistant.Settings) int { return s.Budget.URA() },
			func(s *assistant.Settings, n int) { s.Budget.UserRequestAllowance = n }),
		number("max_trim_attempts", "Pairs left out when a request is too long", []string{"10", "25", "100"},
			func(s assistant.Settings) int { return s.Budget.NTA() },
			func(s *assistant.Settings, n int) { s.Budget.MaxTrimAttempts = n }),
	}
	return append(all, screenSettings()...)
}

// defaultIterations is what Limits takes for zero.
const defaultIterations = 5

// screenSettings are those of the screen itself.
func screenSettings() []setting {
	onOff := []string{"true", "false"}
	return []setting{
		{
			key: "long_reply", title: "When an answer is longer than the screen", values: []string{"stay", "view"},
			words: map[string]string{"view": "go to it when nobody types", "stay": "stay in the input"},
			value: func(m *Model) string { return map[bool]string{false: "stay", true: "view"}[m.opts.ReplyView] },
			set:   func(m *Model, v string) tea.Cmd { m.opts.ReplyView = v == "view"; return nil },
		},
		{
			key: "mouse", title: "Mouse", values: onOff, words: map[string]string{"true": "scrolls and clicks", "false": "selects text"},
			value: func(m *Model) string { return strconv.FormatBool(m.mouse) },
			set:   func(m *Model, v string) tea.Cmd { m.mouse = v == "true"; return nil },
		},
		{
			key: "notify", title: "Tell when a long turn has ended unseen", values: onOff, words: map[string]string{"true": "yes", "false": "no"},
			value: func(m *Model) string { return strconv.FormatBool(m.opts.Notify) },
			set:   func(m *Model, v string) tea.Cmd { m.opts.Notify = v == "true"; return nil },
		},
		{
			key: "theme", title: "Background", values: []string{"auto", "dark", "light"},
			words:  map[string]string{"auto": "as the terminal's"},
			value:  func(m *Model) string { return m.background() },
			set:    func(m *Model, v string) tea.Cmd { return m.setBackground(v) },
			stored: (*Model).themeSetting,
		},
		{
			key: "colours", title: "Theme of colours", values: style.Themes(), words: themeWords(), stored: (*Model).themeSetting,
			value: func(m *Model) string { return orElse(m.styleOpts.Theme, style.DefaultTheme) },
			set: func(m *Model, v string) tea.Cmd {
				o := m.styleOpts
				o.Theme = v
				m.restyle(o)
				return nil
			},
		},
	}
}

// themeSetting is the setting "theme": the colours and, behind them, the
// background; of the usual colours the background alone.
func (m *Model) themeSetting() (key, value string) {
	name, background := orElse(m.styleOpts.Theme, style.DefaultTheme), m.background()
	switch {
	case name == style.DefaultTheme:
		return "theme", background
	case background == "auto":
		return "theme", name
	}
	return "theme", name + "-" + background
}

func themeWords() map[string]string {
	words := map[string]string{}
	for _, name := range style.Themes() {
		words[name] = name + ": " + style.About(name)
	}
	return words
}

// background is whether the colours are for a dark or a light background, or for
// that of the terminal.
func (m *Model) background() string {
	switch {
	case !m.opts.Fixed:
		return "auto"
	case m.styleOpts.Dark:
		return "dark"
	}
	return "light"
}

func (m *Model) setBackground(to string) tea.Cmd {
	m.opts.Fixed = to != "auto"
	if !m.opts.Fixed {
		return tea.RequestBackgroundColor
	}
	o := m.styleOpts
	o.Dark = to == "dark"
	m.restyle(o)
	return nil
}

// setSession changes what the session works with, and what fits then.
func setSession(change func(*assistant.Settings, string)) func(*Model, string) tea.Cmd {
	return func(m *Model, value string) tea.Cmd {
		s := m.session.Settings()
		change(&s, value)
		m.session.SetSettings(s)
		return computeBoundary(m.session)
	}
}

func number(key, title string, values []string, get func(assistant.Settings) int, set func(*assistant.Settings, int)) setting {
	return setting{
		key: key, title: title, values: values,
		value: func(m *Model) string { return strconv.Itoa(get(m.session.Settings())) },
		set: setSession(func(s *assistant.Settings, value string) {
			if n, err := strconv.Atoi(value); err == nil { // one of values
				set(s, n)
			}
		}),
	}
}

// orElse is v, or other when v is not set.
func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// openSettings lists the settings; choosing one takes its next value.
func (m *Model) openSettings() tea.Cmd { return m.settingsAt(0, "") }

// storeKey keeps a setting for the next start.
const storeKey = "alt+s"

// settingsAt opens the list at a line, and says what was just done.
func (m *Model) settingsAt(at int, said string) tea.Cmd {
	all := settings()
	entries := make([]overlay.Entry, len(all))
	for i, s := range all {
		entries[i] = overlay.Entry{Value: s.key, Text: s.title, Extra: s.inWords(s.value(m))}
	}
	hint := "enter takes the next value"
	var keys []string
	if m.opts.KeepSetting != nil {
		hint, keys = hint+" · "+storeKey+" stores it for the next start", []string{storeKey}
	}
	if said != "" {
		hint = said + " · " + hint
	}
	picker := overlay.NewPicker("Settings", entries, at).WithKeys(hint, keys...)
	return m.open(overlay.Settings, picker, func(c overlay.Chosen) tea.Cmd {
		i := slices.IndexFunc(all, func(s setting) bool { return s.key == c.Value })
		if i < 0 {
			return nil
		}
		s := all[i]
		if c.Key == storeKey {
			m.settingsAt(i, "")
			key, value := s.storedAs(m)
			return storeSetting(m.opts.KeepSetting, key, value, i)
		}
		cmd := s.set(m, s.next(s.value(m)))
		said := s.title + ": " + s.inWords(s.value(m))
		m.notice.info(said)
		m.settingsAt(i, said)
		return cmd
	})
}

// storeSetting writes a value where the next start finds it.
func storeSetting(keep func(key, value string) error, key, value string, at int) tea.Cmd {
	return func() tea.Msg { return settingStoredMsg{at: at, key: key, value: value, err: keep(key, value)} }
}

func (m *Model) onSettingStored(msg settingStoredMsg) tea.Cmd {
	said := msg.key + " = " + msg.value + " is stored"
	if msg.err != nil {
		said = sentence(msg.err)
		m.fail(msg.err)
	} else {
		m.notice.info(said)
	}
	if _, kind, open := m.overlay.Top(); open && kind == overlay.Settings {
		m.overlay.Pop()
		return m.settingsAt(msg.at, said)
	}
	return nil
}

// onBackground follows the terminal between dark and light.
func (m *Model) onBackground(msg tea.BackgroundColorMsg) tea.Cmd {
	if dark := isDark(msg.Color); dark != m.styleOpts.Dark && !m.opts.Fixed {
		o := m.styleOpts
		o.Dark = dark
		m.restyle(o)
	}
	return nil
}

func (m *Model) switchTheme() tea.Cmd {
	o := m.styleOpts
	o.Dark = !o.Dark
	m.opts.Fixed = true
	m.restyle(o)
	return m.info("background: " + m.background())
}

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.info("mouse on: wheel scrolls, click focuses and picks, drag copies" + m.hint(" · %s turns it off", "mouse"))
	}
	return m.info("mouse off: the terminal selects text")
}
