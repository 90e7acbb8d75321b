// Package serve lets any number of users work in the window of one folder, within one process: in terminals, over HTTP,
// or through other agents.
//
// # Nouns
//
// A Hub holds the window, the journal and the history of a folder, which its sessions share. A Session is the work of
// one user: a workspace.Workspace with its own conversation, draft, model and queue. A front end uses the Workspace as
// if there were no other users. A Log is a bounded list of numbered entries that any number of readers can follow
// without ever blocking the writer.
//
// A Credential is an identity that a client has proved: a user with a role. Tokens is a token file, which contains only
// hashes; several processes may change the same file. WatchFiles reports changes to such files.
//
// A history.WindowLog contains the change logs of all windows that are served with a team's history. RecordChanges
// copies the log of a served window to that history. A ChangeSource reads a journal or a WindowLog incrementally.
//
// # How users share a window
//
// A turn locks the window from its first write tool to its end, except while it waits for its user to answer a
// question; see assistant/windowlock. While the window is locked, changes that other users make by hand wait up to
// Options.Wait and are then refused with a *windowlock.LockedError, which names the holder; turns of other users wait
// before their first write tool. Reading is never refused. Every change is announced to all sessions as a
// windowlock.Change with its author. A rollback cuts only the conversation of the session that made it;
// workspace.RolledBack lists the steps of other sessions that were undone.
//
// # Who may call what from where
//
// All methods may be called from any goroutine. The caller that opens a Session must close it; closing ends the
// session's turn and unlocks the window. The session's front end reads the events of its turns.
//
// # Caveats
//
// The model filter's selected provider and search text belong to the window, so they are the same on all screens. A
// session without a screen has a selection of its own; see Hub.Place.
//
// The journal is the change log of a window. Changes that compaction removes from the journal before the window is
// served never reach the team's history.
//
// A workspace's Renew and Resume do not check whether the conversation is open in another session, so two users may
// continue the same conversation. Hub.Open does check.
package serve
