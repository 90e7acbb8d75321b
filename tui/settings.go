package tui

import (
	"context"
	"image/color"
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
	words  map[string]string // what a value means, where it is not plain
	value  func(m *Model) string
	set    func(m *Model, value string) tea.Cmd // nil: it is a setting of the session
	stored func(m *Model) (key, value string)   // in the config; nil: key and value
}

// inWords is a value in words.
func (s setting) inWords(value string) string { return orElse(s.words[value], value) }

// next is the value after this one; the first after one that is not offered.
func (s setting) next(value string) string {
	return s.values[(slices.Index(s.values, value)+1)%len(s.values)]
}

// change sets a value from now on.
func (s setting) change(m *Model, value string) tea.Cmd {
	if s.set != nil {
		return s.set(m, value)
	}
	if err := m.work.Set(s.key, value); err != nil {
		return m.fail(err)
	}
	return computeBoundary(m.session)
}

// settings can be changed while the program runs.
func settings() []setting {
	session := func(key, title string, value func(assistant.Settings) string, values ...string) setting {
		return setting{key: key, title: title, values: values, value: func(m *Model) string { return value(m.session.Settings()) }}
	}
	confirm := session("confirm", "The assistant asks before", func(s assistant.Settings) string {
		return string(orElse(s.Confirm, assistant.ConfirmSave))
	}, "save", "always", "never")
	confirm.words = map[string]string{"save": "it saves", "always": "every change", "never": "nothing"}
	return append([]setting{
		confirm,
		session("max_iterations", "Rounds of tool calls in a turn", func(s assistant.Settings) string {
			return strconv.Itoa(orElse(s.Iterations, assistant.DefaultIterations))
		}, "3", "5", "10", "20"),
		session("user_request_allowance", "Tokens kept free for your next message", func(s assistant.Settings) string {
			return strconv.Itoa(s.Budget.URA())
		}, "100", "500", "2000", "8000"),
		session("max_trim_attempts", "Pairs left out when a request is too long", func(s assistant.Settings) string {
			return strconv.Itoa(s.Budget.NTA())
		}, "10", "25", "100"),
	}, screenSettings()...)
}

// screenSettings are those of the screen itself.
func screenSettings() []setting {
	onOff := func(key, title string, at func(*Model) *bool, on, off string) setting {
		return setting{
			key: key, title: title, values: []string{"true", "false"}, words: map[string]string{"true": on, "false": off},
			value: func(m *Model) string { return strconv.FormatBool(*at(m)) },
			set:   func(m *Model, v string) tea.Cmd { *at(m) = v == "true"; return nil },
		}
	}
	themes := map[string]string{}
	for _, name := range style.Themes() {
		themes[name] = name + ": " + style.About(name)
	}
	reply := onOff("long_reply", "When an answer is longer than the screen", func(m *Model) *bool { return &m.opts.ReplyView }, "go to it when nobody types", "stay in the input")
	reply.stored = func(m *Model) (key, value string) {
		return "long_reply", map[bool]string{false: "stay", true: "view"}[m.opts.ReplyView]
	}
	return []setting{
		reply,
		onOff("mouse", "Mouse", func(m *Model) *bool { return &m.mouse }, "scrolls and clicks", "selects text"),
		onOff("notify", "Tell when a long turn has ended unseen", func(m *Model) *bool { return &m.opts.Notify }, "yes", "no"),
		{
			key: "theme", title: "Background", values: []string{"auto", "dark", "light"}, words: map[string]string{"auto": "as the terminal's"},
			value: (*Model).background, stored: (*Model).themeSetting,
			set: func(m *Model, v string) tea.Cmd {
				if m.opts.Fixed = v != "auto"; !m.opts.Fixed {
					return tea.RequestBackgroundColor
				}
				m.restyle(func(o *style.Options) { o.Dark = v == "dark" })
				return nil
			},
		},
		{
			key: "colours", title: "Theme of colours", values: style.Themes(), words: themes, stored: (*Model).themeSetting,
			value: func(m *Model) string { return orElse(m.styleOpts.Theme, style.DefaultTheme) },
			set: func(m *Model, v string) tea.Cmd {
				m.restyle(func(o *style.Options) { o.Theme = v })
				return nil
			},
		},
	}
}

// themeSetting is the setting "theme": the colours and, behind them, the
// background; of the default colours the background alone.
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

// background is the background that the colours are for: dark, light, or auto for
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

const storeKey = "alt+s" // stores a setting for the next start

// openSettings lists the settings; choosing one takes its next value.
func (m *Model) openSettings() tea.Cmd { return m.settingsAt(0, "") }

// settingsAt opens the list at a line, with a notice of what was just done.
func (m *Model) settingsAt(at int, notice string) tea.Cmd {
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
	if notice != "" {
		hint = notice + " · " + hint
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
			return m.storeSetting(i, s)
		}
		cmd := s.change(m, s.next(s.value(m)))
		notice := s.title + ": " + s.inWords(s.value(m))
		m.notice.info(notice)
		m.settingsAt(i, notice)
		return cmd
	})
}

// storeSetting stores the setting of a line for the next start.
func (m *Model) storeSetting(at int, s setting) tea.Cmd {
	key, value := s.key, s.value(m)
	if s.stored != nil {
		key, value = s.stored(m)
	}
	return attempt(func(context.Context) error { return m.opts.KeepSetting(key, value) }, func(err error) tea.Cmd {
		notice := key + " = " + value + " is stored"
		if err != nil {
			notice = sentence(err)
		}
		m.notice.show(notice, err != nil)
		if _, kind, open := m.overlay.Top(); open && kind == overlay.Settings {
			m.overlay.Pop()
			return m.settingsAt(at, notice)
		}
		return nil
	})
}

// restyle draws everything with other colours.
func (m *Model) restyle(change func(*style.Options)) {
	change(&m.styleOpts)
	m.styles = style.New(m.styleOpts)
	m.conv.chat.SetStyles(m.styles)
	m.input.draft.SetStyles(m.styles.Input)
	m.pane.SetStyles(m.styles)
}

// onBackground follows the terminal between dark and light.
func (m *Model) onBackground(msg tea.BackgroundColorMsg) tea.Cmd {
	if dark := isDark(msg.Color); dark != m.styleOpts.Dark && !m.opts.Fixed {
		m.restyle(func(o *style.Options) { o.Dark = dark })
	}
	return nil
}

func isDark(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	const half = 0xffff / 2
	return (299*r+587*g+114*b)/1000 < half // luma of ITU-R BT.601
}

func (m *Model) toggleMouse() tea.Cmd {
	if m.mouse = !m.mouse; m.mouse {
		return m.info("mouse on: wheel scrolls, click focuses and picks, drag copies" + m.hint(" · %s turns it off", "mouse"))
	}
	return m.info("mouse off: the terminal selects text")
}
