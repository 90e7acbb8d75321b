package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// openSettings lists the settings; choosing one changes its value.
func (m *Model) openSettings() tea.Cmd { return m.settingsAt(0, "") }

// settingsAt opens the list at an entry, with a notice about the last change.
func (m *Model) settingsAt(at int, notice string) tea.Cmd {
	all := m.settings()
	entries := make([]overlay.Entry, len(all))
	for i, s := range all {
		entries[i] = s.Entry()
	}
	kept := "changes are stored at once"
	if m.opts.StoreSetting == nil {
		kept = "changes last until you quit"
	}
	picker := overlay.NewPicker("Settings", entries, at).WithNotice(notice).WithLegend(kept).Offer(keymap.SettingList,
		keymap.To("changes it", keymap.LineAccept, keymap.PreviousValue, keymap.NextValue))
	return m.open(overlay.Settings, picker, func(c overlay.Chosen) tea.Cmd {
		i := slices.IndexFunc(all, func(s overlay.Setting) bool { return s.Key == c.Value })
		if i < 0 {
			return nil
		}
		s, step := all[i], 1
		if c.Action == keymap.PreviousValue {
			step = -1
		}
		if s.OfSession { // the use case itself stores a setting of the session
			return m.acts.add(func(request int64) tea.Cmd { return m.commands.SetSetting(request, s.Key, s.Step(step)) })
		}
		s.Set(s.Step(step))
		key, value := s.Stored()
		return tea.Batch(m.settingChanged(s.Key), m.storeSetting(key, value))
	})
}

// settingChanged shows the new value of a setting in the list.
func (m *Model) settingChanged(key string) tea.Cmd {
	all := m.settings()
	i := slices.IndexFunc(all, func(s overlay.Setting) bool { return s.Key == key })
	notice := all[i].Title + ": " + all[i].Value()
	m.notice.Info(safetext.Clean(notice))
	m.settingsAt(i, notice)
	return m.applySettings()
}

// settings returns the settings of the session and of the screen.
func (m *Model) settings() []overlay.Setting {
	return overlay.AllSettings(m.inUse(), &m.opts.ScreenSettings)
}

// applySettings applies the settings to the screen.
func (m *Model) applySettings() tea.Cmd {
	keys, err := keymap.New(m.opts.EnterSends, m.opts.Rebinds)
	if err != nil {
		m.opts.EnterSends = !m.opts.EnterSends // a key binding in the settings file conflicts with the new value
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

// storedSetting is a setting to be stored for the next start.
type storedSetting struct{ key, value string }

// storeSetting stores a setting for the next start. It waits for earlier settings to be
// stored, so that the newest value is written last.
func (m *Model) storeSetting(key, value string) tea.Cmd {
	if m.opts.StoreSetting == nil {
		return nil
	}
	m.storing = append(m.storing, storedSetting{key, value})
	if len(m.storing) > 1 {
		return nil
	}
	return m.storeNextSetting()
}

func (m *Model) storeNextSetting() tea.Cmd {
	store, next := m.opts.StoreSetting, m.storing[0]
	return func() tea.Msg { return settingStoredMsg{store(next.key, next.value)} }
}

func (m *Model) onSettingStored(msg settingStoredMsg) tea.Cmd {
	stored := m.storing[0]
	m.storing = m.storing[1:]
	failed := m.fail(msg.err)
	if _, kind, open := m.overlay.Top(); msg.err != nil && open && kind == overlay.Settings {
		all := m.settings()
		m.settingsAt(max(0, slices.IndexFunc(all, func(s overlay.Setting) bool { return s.Key == stored.key })), string(m.notice.Text))
	}
	if len(m.storing) == 0 {
		return failed
	}
	return tea.Batch(failed, m.storeNextSetting())
}

// restyle applies the current colours to every part.
func (m *Model) restyle() {
	m.styles = style.New(m.opts.Style)
	m.conv.chat.SetStyles(m.styles)
	m.input.draft.SetStyles(m.styles.Input)
	m.pane.SetStyles(m.styles)
	m.hud.SetStyles(&m.styles)
}

// onBackground adapts the colours when the terminal switches between dark and light.
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
