package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/overlay"
	"winnow/tui/settings"
	"winnow/tui/style"
)

const storeKey = "alt+s" // stores a setting for the next start

// openSettings lists the settings; choosing one takes its next value.
func (m *Model) openSettings() tea.Cmd { return m.settingsAt(0, "") }

// settingsAt opens the list at a line, with a notice of what was just done.
func (m *Model) settingsAt(at int, notice string) tea.Cmd {
	all := settings.All(m.work, &m.opts.Screen)
	entries := make([]overlay.Entry, len(all))
	for i, s := range all {
		entries[i] = overlay.Entry{Value: s.Key, Text: s.Title, Extra: s.Value()}
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
		i := slices.IndexFunc(all, func(s settings.Setting) bool { return s.Key == c.Value })
		if i < 0 {
			return nil
		}
		s := all[i]
		if c.Key == storeKey {
			m.settingsAt(i, "")
			return m.storeSetting(i, s)
		}
		if err := s.Next(); err != nil {
			return m.fail(err)
		}
		notice := s.Title + ": " + s.Value()
		m.notice.info(notice)
		m.settingsAt(i, notice)
		return m.applySettings()
	})
}

// applySettings draws the screen with its settings, and computes the boundary with
// those of the session.
func (m *Model) applySettings() tea.Cmd {
	m.restyle()
	cmd := computeBoundary(m.session)
	if !m.opts.FixedBackground {
		cmd = tea.Batch(cmd, tea.RequestBackgroundColor)
	}
	return cmd
}

// storeSetting stores the setting of a line for the next start.
func (m *Model) storeSetting(at int, s settings.Setting) tea.Cmd {
	key, value := s.Stored()
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

// restyle gives every part the current colours.
func (m *Model) restyle() {
	m.styles = style.New(m.opts.Style)
	m.conv.chat.SetStyles(m.styles)
	m.input.draft.SetStyles(m.styles.Input)
	m.pane.SetStyles(m.styles)
}

// onBackground follows the terminal between dark and light.
func (m *Model) onBackground(msg tea.BackgroundColorMsg) tea.Cmd {
	if dark := msg.IsDark(); dark != m.opts.Style.Dark && !m.opts.FixedBackground {
		m.opts.Style.Dark = dark
		m.restyle()
	}
	return nil
}

func (m *Model) toggleMouse() tea.Cmd {
	if m.opts.Mouse = !m.opts.Mouse; m.opts.Mouse {
		return m.info("mouse on: wheel scrolls, click focuses and picks, drag copies" + m.hint(" · %s turns it off", "mouse"))
	}
	return m.info("mouse off: the terminal selects text")
}
