package overlay

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/tui/style"
)

// ScreenSettings holds the settings of the screen. The zero value is ready to use.
type ScreenSettings struct {
	Style style.Options // Dark follows the terminal unless FixedBackground
	// FixedBackground means that the user has chosen the background; otherwise the terminal
	// decides it.
	FixedBackground bool
	Mouse           bool   // the mouse is captured
	HUD             bool   // the context HUD is docked
	LongReply       string // what happens when an answer is longer than the screen: one of the Reply constants; "" means ReplyStay
	PanePlace       string // where the pane of the window is: one of the Pane constants; "" means PaneBeside
	Notify          bool   // notify the user when a long turn ends while the user is looking elsewhere
	EnterSends      bool   // send_key is "enter": enter sends, and the other send keys start a new line
	AsksEnter       bool   // send_key is not set: the first enter asks whether enter should send
}

// The values of long_reply.
const (
	ReplyStay = "stay" // the view does not move
	ReplyTop  = "top"  // the view moves to the first line of the answer
	ReplyView = "view" // like ReplyTop; the focus moves to the view too, unless the user is typing
)

// The values of pane.
const (
	PaneBeside = "beside" // next to the chat; on a narrow screen, the same as PaneFull
	PaneFull   = "full"   // over the whole width while the pane has the focus
	PaneAway   = "away"   // hidden; no key moves the focus to it
)

// NextPane returns the value of pane that follows the current one; the first follows the
// last.
func (s *ScreenSettings) NextPane() string {
	all := []string{PaneBeside, PaneFull, PaneAway}
	return all[(slices.Index(all, cmp.Or(s.PanePlace, PaneBeside))+1)%len(all)]
}

// Setting is a setting of the session or of the screen, as the list of settings shows it.
type Setting struct {
	Key    string
	Title  string
	about  string // what the setting does
	values []string
	words  map[string]string // how values are shown; a value without an entry is shown unchanged
	value  func() string
	set    func(value string) // nil for OfSession
	// OfSession means that this is a setting of the session, which a use case changes
	// instead of Set.
	OfSession bool
	stored    func() (key, value string) // see Stored; nil means Key and value
}

// Value returns the current value, in words.
func (s Setting) Value() string { return cmp.Or(s.words[s.value()], s.value()) }

// Entry returns the setting as an entry of a picker. A narrow picker leaves out the
// explanation of the value.
func (s Setting) Entry() Entry {
	short, _, _ := strings.Cut(s.Value(), ": ")
	return Entry{Value: s.Key, Text: s.Title, Extra: s.Value(), Short: short, About: s.about + ": " + strings.Join(s.short(), ", ")}
}

// short returns all values in words, without their explanations.
func (s Setting) short() []string {
	all := make([]string, len(s.values))
	for i, v := range s.values {
		all[i], _, _ = strings.Cut(cmp.Or(s.words[v], v), ": ")
	}
	return all
}

// Set changes a setting of the screen; it panics if OfSession is set.
func (s Setting) Set(value string) { s.set(value) }

// Step returns the value that follows the current one if n is 1, or precedes it if n is -1;
// the first follows the last. If the current value is not in the list, Step returns the
// first.
func (s Setting) Step(n int) string {
	at := slices.Index(s.values, s.value())
	if at < 0 {
		return s.values[0]
	}
	return s.values[(at+n+len(s.values))%len(s.values)]
}

// Stored returns the key and the current value as the config file contains them.
func (s Setting) Stored() (key, value string) {
	if s.stored != nil {
		return s.stored()
	}
	return s.Key, s.value()
}

// AllSettings lists the settings of a session, with their current values, and the settings
// of the screen.
func AllSettings(now assistant.Settings, screen *ScreenSettings) []Setting {
	session := func(key, title, about string, value func(assistant.Settings) string, values ...string) Setting {
		return Setting{Key: key, Title: title, about: about, values: values, value: func() string { return value(now) }, OfSession: true}
	}
	confirm := session("confirm", "Ask before", "actions that the assistant must ask you about", func(s assistant.Settings) string {
		return string(cmp.Or(s.Confirm, assistant.ConfirmSave))
	}, "save", "always", "never")
	confirm.words = map[string]string{"save": "saving", "always": "every change", "never": "nothing"}
	return append([]Setting{
		confirm,
		session("max_iterations", "Tool rounds in a turn", "rounds of tool calls before the assistant stops and offers to continue", func(s assistant.Settings) string {
			return strconv.Itoa(cmp.Or(s.Iterations, assistant.DefaultIterations))
		}, "3", "5", "10", "20"),
		session("user_request_allowance", "Tokens for your message", "context kept free for your next message when older ones are sent along", func(s assistant.Settings) string {
			return strconv.Itoa(s.Budget.URA())
		}, "100", "500", "2000", "8000"),
		session("max_trim_attempts", "Messages dropped to fit", "maximum number of old messages left out if the model says that a request is too long", func(s assistant.Settings) string {
			return strconv.Itoa(s.Budget.NTA())
		}, "10", "25", "100"),
	}, screen.settings()...)
}

func (s *ScreenSettings) settings() []Setting {
	onOff := func(key, title, about string, field *bool, on, off string) Setting {
		return Setting{
			Key: key, Title: title, about: about, values: []string{"true", "false"}, words: map[string]string{"true": on, "false": off},
			value: func() string { return strconv.FormatBool(*field) },
			set:   func(v string) { *field = v == "true" },
		}
	}
	reply := Setting{
		Key: "long_reply", Title: "After a long answer", about: "what the screen shows after an answer that is longer than the screen", values: []string{ReplyStay, ReplyTop, ReplyView},
		words: map[string]string{ReplyStay: "stay: its last line", ReplyTop: "top: its first line", ReplyView: "view: its first line, with the focus"},
		value: func() string { return cmp.Or(s.LongReply, ReplyStay) },
		set:   func(v string) { s.LongReply = v },
	}
	pane := Setting{
		Key: "pane", Title: "Pane", about: "where the rules are shown", values: []string{PaneBeside, PaneFull, PaneAway},
		words: map[string]string{PaneBeside: "beside the chat", PaneFull: "full: the whole width, alternating with the chat", PaneAway: "away: hidden until you bring it back"},
		value: func() string { return cmp.Or(s.PanePlace, PaneBeside) },
		set:   func(v string) { s.PanePlace = v },
	}
	enter := onOff("send_key", "Enter", "what enter does in the message box; the other send keys do the opposite", &s.EnterSends, "sends the message", "starts a new line")
	enter.stored = func() (key, value string) {
		if s.EnterSends {
			return "send_key", "enter"
		}
		return "send_key", "ctrl+enter"
	}
	themes := map[string]string{}
	for _, name := range style.Themes() {
		themes[name] = name + ": " + style.About(name)
	}
	return []Setting{
		enter,
		reply,
		pane,
		onOff("mouse", "Mouse", "what the mouse does", &s.Mouse, "scrolls and clicks", "selects text"),
		onOff("hud", "Context HUD", "the list of messages with their tokens", &s.HUD, "docked: stays while you type", "opens with a key"),
		onOff("notify", "Notify after a long turn", "whether the terminal notifies you when a long turn ends", &s.Notify, "yes: if the terminal is not in focus", "no"),
		{
			Key: "theme", Title: "Background", about: "the colours fit this background", values: []string{"auto", "dark", "light"}, words: map[string]string{"auto": "like the terminal"},
			value: s.background, stored: s.theme,
			set: func(v string) {
				if s.FixedBackground = v != "auto"; s.FixedBackground {
					s.Style.Dark = v == "dark"
				}
			},
		},
		{
			Key: "colours", Title: "Colour theme", about: "the colours of the screen", values: style.Themes(), words: themes, stored: s.theme,
			value: s.colours,
			set:   func(v string) { s.Style.Theme = v },
		},
	}
}

func (s *ScreenSettings) colours() string { return cmp.Or(s.Style.Theme, style.DefaultTheme) }

// background returns the value of the setting: dark, light, or auto, which follows the
// terminal.
func (s *ScreenSettings) background() string {
	switch {
	case !s.FixedBackground:
		return "auto"
	case s.Style.Dark:
		return "dark"
	}
	return "light"
}

// theme returns the setting "theme" as the config stores it: NAME, or NAME-BACKGROUND if
// the background is fixed. For the default colours it is the background alone.
func (s *ScreenSettings) theme() (key, value string) {
	switch name, background := s.colours(), s.background(); {
	case name == style.DefaultTheme:
		return "theme", background
	case background == "auto":
		return "theme", name
	default:
		return "theme", name + "-" + background
	}
}
