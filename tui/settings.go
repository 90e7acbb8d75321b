package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/settings"
	"winnow/tui/style"
)

// openSettings lists the settings; choosing one takes its next value.
func (m *Model) openSettings() tea.Cmd { return m.settingsAt(0, "") }

// settingsAt opens the list at a line, with a notice of what was just done.
func (m *Model) settingsAt(at int, notice string) tea.Cmd {
	all := m.settings()
	entries := make([]overlay.Entry, len(all))
	for i, s := range all {
		entries[i] = s.Entry()
	}
	offers := []keymap.Hint{keymap.To("takes the next value", keymap.LineAccept)}
	if m.opts.StoreSetting != nil {
		offers = append(offers, keymap.To("stores it for the next start", keymap.StoreSetting))
	}
	picker := overlay.NewPicker("Settings", entries, at).Offer(keymap.SettingList, offers...).WithNotice(notice)
	return m.open(overlay.Settings, picker, func(c overlay.Chosen) tea.Cmd {
		i := slices.IndexFunc(all, func(s settings.Setting) bool { return s.Key == c.Value })
		if i < 0 {
			return nil
		}
		s := all[i]
		if c.Action == keymap.StoreSetting {
			m.settingsAt(i, "")
			key, value := s.Stored()
			return m.storeSetting(key, value, i)
		}
		if s.OfSession {
			return m.acts.add(func(request int64) tea.Cmd { return m.commands.SetSetting(request, s.Key, s.NextValue()) })
		}
		s.Next()
		return m.settingChanged(s.Key)
	})
}

// settingChanged shows the new value of a setting in the list.
func (m *Model) settingChanged(key string) tea.Cmd {
	all := m.settings()
	i := slices.IndexFunc(all, func(s settings.Setting) bool { return s.Key == key })
	notice := all[i].Title + ": " + all[i].Value()
	m.notice.Info(notice)
	m.settingsAt(i, notice)
	return m.applySettings()
}

// settings are those of the session and of the screen.
func (m *Model) settings() []settings.Setting {
	return settings.All(m.inUse(), &m.opts.Screen)
}

// applySettings draws the screen with its settings.
func (m *Model) applySettings() tea.Cmd {
	keys, err := keymap.New(m.opts.EnterSends, m.opts.Rebinds)
	if err != nil {
		m.opts.EnterSends = !m.opts.EnterSends // a binding of the config needs the other one
		return m.fail(err)
	}
	keys.CtrlEnter = m.keys.CtrlEnter
	*m.keys = *keys
	m.input.draft.SetKeys(m.keys)
	m.restyle()
	if m.opts.FixedBackground {
		return m.showHUD()
	}
	return tea.Batch(m.showHUD(), tea.RequestBackgroundColor)
}

// storeSetting stores a setting for the next start; at is its line in the list, -1: it was
// not chosen there.
func (m *Model) storeSetting(key, value string, at int) tea.Cmd {
	store := m.opts.StoreSetting
	return func() tea.Msg { return settingStoredMsg{key, value, at, store(key, value)} }
}

func (m *Model) onSettingStored(msg settingStoredMsg) tea.Cmd {
	if msg.at < 0 {
		return m.fail(msg.err)
	}
	notice := msg.key + " = " + msg.value + " is stored"
	if msg.err != nil {
		notice = sentence(msg.err)
	}
	m.notice.Show(notice, msg.err != nil)
	if _, kind, open := m.overlay.Top(); open && kind == overlay.Settings {
		m.overlay.Pop()
		return m.settingsAt(msg.at, notice)
	}
	return nil
}

// restyle gives every part the current colours.
func (m *Model) restyle() {
	m.styles = style.New(m.opts.Style)
	m.conv.chat.SetStyles(m.styles)
	m.input.draft.SetStyles(m.styles.Input)
	m.pane.SetStyles(m.styles)
	m.hud.SetStyles(&m.styles)
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
		return m.info("mouse on: wheel scrolls, click focuses and picks, drag copies" + m.hint(" · %s turns it off", keymap.Mouse))
	}
	return m.info("mouse off: the terminal selects text")
}
