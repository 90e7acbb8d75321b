// Package windowlock lets the sessions of several users work in the same window. Only one user changes the window at a
// time, and all users are told who changed it and how.
//
// # Types
//
// A Lock protects everything that the sessions share: a window, its journal and the history. A Member represents one
// session in the Lock. A section is a short operation on the window and the journal, such as an edit or the start of a
// turn; only one section runs at a time. A turn locks the window from its first write tool until it ends; its member is
// then the holder of the lock. While the window is locked, edits by other members wait for some seconds and are then
// refused with a *LockedError, and the turns of other members wait before their first write tool. Sections that change
// nothing are still allowed. A turn unlocks the window while it waits for an answer from its user.
//
// # Concurrency
//
// All methods may be called from any goroutine. The methods of a nil *Member do nothing: a session that shares its
// window with no other session has no Member. A section must not begin another section.
package windowlock
