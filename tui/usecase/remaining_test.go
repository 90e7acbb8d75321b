package usecase_test

// remaining are the breaches of the wall that are left; see TestTheWallHolds. Each goes when
// the screen reads the state of the session's log, and when panes draw a snapshot.
var remaining = []string{
	// What others do in the window.
	"tui/presence/presence.go: serve.Session",
	"tui/presence/presence.go: serve.Session.Changes",
	"tui/presence/presence.go: serve.Session.HeldBy",
	"tui/presence/presence.go: serve.Session.ID",
	"tui/presence/presence.go: serve.Session.Others",
	"tui/presence/presence.go: serve.Session.OthersSince",
	"tui/presence/presence.go: serve.Session.OthersWaiting",
	"tui/presence/presence.go: serve.Session.UserOf",

	// Turns, and what is read from the session instead of from its state.
	"tui/model.go: history.Store",
	"tui/model.go: serve.Session",
	"tui/model.go: workspace.Workspace",

	// What acts read before they begin.
}
