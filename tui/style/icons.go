package style

// Icons are the signs that go with the colours, so that every state can be
// told without colour. Each is one cell wide in both sets; the ASCII set is
// for terminals without Unicode.
type Icons struct {
	ToolOK, ToolBad string
	Running         []string // frames of the spinner, in order
	Folded, Open    string   // a fold that is closed, and one that is open
	Menu            string   // after a name that opens a list
	Unsaved, Saved  string
	Lock            string // the window is locked: the assistant works
	Model           string
	Checkpoint      string
	Error           string
	Warn            string
	New             string // something arrived below the screen
	Selected        string // before the selected entry of a list
	Marked          string // before an entry chosen together with others
	Ellipsis        string
	Star            string
	Flag            string
	Ignore, Allow   string
	Pending         string // a rule that is not saved
	Shadowed, Dead  string // a rule that never decides; one that matches nothing
	RuleBar         string
	Wheel           []string // one sign per rule colour, all different
	Available       string   // a model that the proxy lists
	Hidden          string   // a model that the rules hide
	BarFull         string   // share that is available, in the bar of the pane
	BarEmpty        string   // share that is hidden
	Add, Remove     string   // lines of a difference
	Bullet          string
	Quote           string
	Rule            string // repeated: a line across
	Ticked, Blank   string // task list items
	Column          string // between the columns of a table
	Cross           string // where Column meets Rule
}

func icons(unicode bool) Icons {
	if !unicode {
		return asciiIcons
	}
	return Icons{
		ToolOK: "✓", ToolBad: "✗",
		Running: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
		Folded:  "▸", Open: "▾", Menu: "▾",
		Unsaved: "●", Saved: "○", Lock: "⊠", Model: "◇", Checkpoint: "⟲",
		Error: "✗", Warn: "!", New: "↓", Selected: "❯", Marked: "◆", Ellipsis: "…",
		Star: "★", Flag: "⚑",
		Ignore: "−", Allow: "+", Pending: "●", Shadowed: "◐", Dead: "∅", RuleBar: "▌",
		Wheel:     []string{"●", "■", "▲", "◆", "○", "□", "△", "◇"},
		Available: "✓", Hidden: "·", BarFull: "█", BarEmpty: "░",
		Add: "+", Remove: "-",
		Bullet: "•", Quote: "│", Rule: "─", Ticked: "☑", Blank: "☐", Column: "│", Cross: "┼",
	}
}

var asciiIcons = Icons{
	ToolOK: "+", ToolBad: "x",
	Running: []string{"|", "/", "-", `\`},
	Folded:  ">", Open: "v", Menu: "v",
	Unsaved: "*", Saved: "o", Lock: "#", Model: "@", Checkpoint: "<",
	Error: "x", Warn: "!", New: "v", Selected: ">", Marked: "*", Ellipsis: "~",
	Star: "*", Flag: "P",
	Ignore: "-", Allow: "+", Pending: "*", Shadowed: "%", Dead: "0", RuleBar: "|",
	Wheel:     []string{"o", "#", "^", "*", "=", "%", "&", "@"},
	Available: "+", Hidden: ".", BarFull: "#", BarEmpty: ".",
	Add: "+", Remove: "-",
	Bullet: "*", Quote: "|", Rule: "-", Ticked: "x", Blank: "o", Column: "|", Cross: "+",
}
