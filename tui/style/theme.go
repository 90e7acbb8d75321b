package style

import (
	"maps"
	"slices"
)

// DefaultTheme is the theme of an empty Options.Theme.
const DefaultTheme = "winnow"

// Themes lists the names of the themes, sorted.
func Themes() []string { return slices.Sorted(maps.Keys(themes)) }

// About says in a few words what a theme looks like; "" for one that does not
// exist.
func About(name string) string { return themes[name].about }

// theme is a palette for each kind of background, with the colours that the
// rules of the pane take in turn.
type theme struct {
	about                 string
	dark, light           palette
	darkWheel, lightWheel [wheelSize]string
}

var themes = map[string]theme{
	DefaultTheme: {
		about: "blue on grey, for most terminals",
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
		about: "AAA contrast, black or white",
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
	"ember": {
		about: "warm: amber and brown",
		dark: palette{
			Back: "#1f1a17", Panel: "#2b2420", Base: "#f0e6dc", Muted: "#b8a898", Edge: "#8a7868",
			Accent: "#ffb070", Bubble: "#6b3a1a", OnBubble: "#ffffff", Mark: "#5c4a10",
			Good: "#b5d068", Bad: "#ff9a88", Warn: "#f2c94c", Info: "#e8b4a0", Special: "#e0a8d8",
		},
		light: palette{
			Back: "#faf4ec", Panel: "#f0e6d8", Base: "#2a211a", Muted: "#66564a", Edge: "#8a7a6a",
			Accent: "#8f3d06", Bubble: "#f6d8b8", OnBubble: "#3d1c04", Mark: "#ffe08a",
			Good: "#3f5a0a", Bad: "#a01c14", Warn: "#6b4600", Info: "#7a3a28", Special: "#7a2a6e",
		},
		darkWheel: [wheelSize]string{
			"#ffb070", "#b5d068", "#f2c94c", "#ff9a88", "#e0a8d8", "#e8c8a0", "#d8b060", "#f0a0b8",
		},
		lightWheel: [wheelSize]string{
			"#8f3d06", "#3f5a0a", "#6b4600", "#a01c14", "#7a2a6e", "#5a4632", "#784a1e", "#8c1f50",
		},
	},
	"fjord": {
		about: "cool: blue and green",
		dark: palette{
			Back: "#141d26", Panel: "#1c2833", Base: "#dde8f0", Muted: "#9db0c0", Edge: "#667c90",
			Accent: "#7cc7f0", Bubble: "#1d4a6b", OnBubble: "#ffffff", Mark: "#40501c",
			Good: "#82d8b0", Bad: "#ff9fa8", Warn: "#e4cc78", Info: "#90d4dc", Special: "#b0b8f8",
		},
		light: palette{
			Back: "#f2f6f9", Panel: "#e4ecf2", Base: "#17222c", Muted: "#4a5c6a", Edge: "#748694",
			Accent: "#0b5480", Bubble: "#c8e2f4", OnBubble: "#06293f", Mark: "#f4e890",
			Good: "#0c5c42", Bad: "#9c1c34", Warn: "#5c4a00", Info: "#005a64", Special: "#443c9c",
		},
		darkWheel: [wheelSize]string{
			"#7cc7f0", "#82d8b0", "#e4cc78", "#ff9fa8", "#b0b8f8", "#90d4dc", "#a8c8a0", "#d8b0e8",
		},
		lightWheel: [wheelSize]string{
			"#0b5480", "#0c5c42", "#5c4a00", "#9c1c34", "#443c9c", "#005a64", "#3c5620", "#6c2c80",
		},
	},
	"dusk": {
		about: "soft: pastels that do not glare",
		dark: palette{
			Back: "#22212c", Panel: "#2c2b38", Base: "#d8d6e2", Muted: "#a5a2b5", Edge: "#777489",
			Accent: "#b4a8e8", Bubble: "#453f6b", OnBubble: "#f4f2fc", Mark: "#4c4630",
			Good: "#a3cca8", Bad: "#e8a3ab", Warn: "#dcc592", Info: "#a0c4d4", Special: "#d4aecb",
		},
		light: palette{
			Back: "#f6f4f8", Panel: "#ebe8f0", Base: "#35323f", Muted: "#5f5b6c", Edge: "#837f91",
			Accent: "#554899", Bubble: "#ded8f2", OnBubble: "#2c2554", Mark: "#f2e6b8",
			Good: "#34613f", Bad: "#8a2438", Warn: "#6b5420", Info: "#305e72", Special: "#6c3060",
		},
		darkWheel: [wheelSize]string{
			"#b4a8e8", "#a3cca8", "#dcc592", "#e8a3ab", "#d4aecb", "#a0c4d4", "#d8b49c", "#b8c890",
		},
		lightWheel: [wheelSize]string{
			"#554899", "#34613f", "#6b5420", "#8a3444", "#6c3060", "#305e72", "#7a4a34", "#4e5e24",
		},
	},
	"mono": {
		about: "greys only: signs and weight tell states apart",
		dark: palette{
			Back: "#181818", Panel: "#242424", Base: "#e6e6e6", Muted: "#a8a8a8", Edge: "#787878",
			Accent: "#ffffff", Bubble: "#444444", OnBubble: "#ffffff", Mark: "#505050",
			Good: "#d0d0d0", Bad: "#ffffff", Warn: "#f0f0f0", Info: "#c4c4c4", Special: "#dadada",
		},
		light: palette{
			Back: "#f8f8f8", Panel: "#ececec", Base: "#1e1e1e", Muted: "#585858", Edge: "#808080",
			Accent: "#000000", Bubble: "#d4d4d4", OnBubble: "#000000", Mark: "#cccccc",
			Good: "#3a3a3a", Bad: "#000000", Warn: "#101010", Info: "#444444", Special: "#303030",
		},
		darkWheel: [wheelSize]string{
			"#ffffff", "#c4c4c4", "#e6e6e6", "#a8a8a8", "#f2f2f2", "#b6b6b6", "#d4d4d4", "#9c9c9c",
		},
		lightWheel: [wheelSize]string{
			"#000000", "#444444", "#1e1e1e", "#585858", "#101010", "#4e4e4e", "#303030", "#626262",
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
