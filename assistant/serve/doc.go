// Package serve lets any number of users work in the window of one folder, in one
// process: through terminals, over HTTP, as other agents.
//
// # Nouns
//
// A Hub is the window, the journal and the history of a folder, shared by sessions. A
// Session is what one user does in it: a workspace.Workspace with a conversation,
// draft, model and queue of its own. A front end drives the Workspace as if it were
// alone. A Log is a bounded list of numbered entries that any number of readers follow,
// none of which can hold up its writer.
//
// A history.WindowLog has the logs of all windows that are served with a team's history.
// RecordChanges copies that of a served window into it; a ChangeSource reads a journal or
// such a history, piece by piece.
//
// # How users share a window
//
// A turn locks the window from its first write tool to its end, but for the time in which
// it waits for an answer of its user; see assistant/share.
// Meanwhile a change by hand of another user is refused with a *share.HeldError, which
// names the holder, and the turn of another user waits before its first write tool.
// What only reads is never refused. Every change is announced to everybody as a share.Change,
// with who made it. A rollback cuts the conversation of its own session only;
// workspace.RolledBack lists the steps of others that it undid.
//
// # Who may call what from where
//
// All methods are safe from any goroutine. Whoever opens a Session closes it: that
// ends its turn and frees the window. The events of its turns are read by its front
// end.
//
// # Caveats
//
// The selected provider and the search of the model filter belong to the window: they
// are the same for everybody.
//
// The journal is the log of a window. What compaction removes from it before the window is
// served is never in the history of the team.
//
// Renew and Resume of a workspace do not know of other sessions: two users may continue
// one conversation. Open refuses that.
package serve
