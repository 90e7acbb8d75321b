package style

import (
	"maps"
	"slices"
)

// DefaultTheme is the theme of an empty Options.Theme.
const DefaultTheme = "winnow"

// Themes lists the names of the themes, sorted.
func Themes() []string { return slices.Sorted(maps.Keys(themes)) }

// theme is a palette for each kind of background, with the colours that the
// rules of the pane take in turn.
type theme struct {
	dark, light           palette
	darkWheel, lightWheel [wheelSize]string
}

var themes = map[string]theme{
	DefaultTheme: {
		dark: palette{
			Back: "#1c1d24", Panel: "#282a36", Base: "#e4e4ec", Muted: "#a9acbd", Edge: "#767b93",
			Accent: "#8ab4ff", Bubble: "#2f4f8f", OnBubble: "#ffffff", Mark: "#574a14",
			Good: "#7fd88f", Bad: "#ff9696", Warn: "#f0c060", Info: "#6fd3e0", Special: "#d0a8ff",
		},
		light: palette{
			Back: "#f4f4f6", Panel: "#e8e9ee", Base: "#1f2028", Muted: "#525666", Edge: "#7c808c",
			Accent: "#1d4fb8", Bubble: "#d0e0ff", OnBubble: "#12264f", Mark: "#ffe48a",
			Good: "#17602b", Bad: "#a8191f", Warn: "#664200", Info: "#005573", Special: "#6b2fa0",
		},
		darkWheel: [wheelSize]string{
			"#8ab4ff", "#7fd88f", "#f0c060", "#ff9696", "#d0a8ff", "#6fd3e0", "#ffb07a", "#f2a0d0",
		},
		lightWheel: [wheelSize]string{
			"#1d4fb8", "#17602b", "#664200", "#a8191f", "#6b2fa0", "#005573", "#8a3c08", "#8a1f66",
		},
	},
	"high-contrast": {
		dark: palette{
			Back: "#000000", Panel: "#121212", Base: "#ffffff", Muted: "#d7d7d7", Edge: "#ffffff",
			Accent: "#a8d1ff", Bubble: "#00308f", OnBubble: "#ffffff", Mark: "#4a2c00",
			Good: "#87ff9f", Bad: "#ffb3b3", Warn: "#ffe066", Info: "#80f0ff", Special: "#e6ccff",
		},
		light: palette{
			Back: "#ffffff", Panel: "#f9f9f9", Base: "#000000", Muted: "#333333", Edge: "#000000",
			Accent: "#0a2f8a", Bubble: "#cfe0ff", OnBubble: "#000000", Mark: "#ffee99",
			Good: "#00401a", Bad: "#7f0d12", Warn: "#4a2800", Info: "#002d52", Special: "#4a1a78",
		},
		darkWheel: [wheelSize]string{
			"#a8d1ff", "#87ff9f", "#ffe066", "#ffb3b3", "#e6ccff", "#80f0ff", "#ffc799", "#ffbfe6",
		},
		lightWheel: [wheelSize]string{
			"#0a2f8a", "#00401a", "#4a2800", "#7f0d12", "#4a1a78", "#002d52", "#662b05", "#66124a",
		},
	},
}

// none is the index of "no colour of ours": the terminal's own.
const none = -1

// ansi16 is a palette in the terminal's sixteen colours. Back and Panel are
// never set: no index is sure to be near the background.
type ansi16 struct {
	muted, edge, accent, onAccent, bubble, onBubble, good, bad, warn, info, special int
	wheel                                                                           [wheelSize]int
}

var (
	// Muted text is the terminal's own colour, faint: bright black cannot be
	// read in several common schemes.
	dark16 = ansi16{
		muted: none, edge: 8, accent: 14, onAccent: 0, bubble: 4, onBubble: 15,
		good: 10, bad: 9, warn: 11, info: 14, special: 13,
		wheel: [wheelSize]int{14, 10, 11, 9, 13, 7, 15, none},
	}
	// Green, yellow and cyan are too pale on white; their signs carry the
	// meaning and the text keeps the terminal's own colour.
	light16 = ansi16{
		muted: none, edge: 8, accent: 4, onAccent: 15, bubble: 4, onBubble: 15,
		good: none, bad: 1, warn: 5, info: 4, special: 5,
		wheel: [wheelSize]int{4, 1, 5, none, 4, 1, 5, none},
	}
)
