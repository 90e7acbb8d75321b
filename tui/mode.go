package tui

// mode is where the keys go.
type mode int

const (
	modeInput mode = iota
	modeView
	modeCommand
	modePane
)

// modeNames are the names shown in the footer and used in the config.
var modeNames = [...]string{modeInput: "INPUT", modeView: "VIEW", modeCommand: "COMMAND", modePane: "PANE"}

// String is the mode's name in the footer.
func (m mode) String() string { return modeNames[m] }
