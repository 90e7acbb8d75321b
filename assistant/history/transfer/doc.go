// Package transfer exports the pairs of a history.Store, imports them, and executes
// the :command of a filter line. It knows only the interface, so it works with every
// engine.
//
// Export writes pairs in a Format, and Import reads the JSON one. Prepare makes a
// Command from a filter line, Execute executes it, and Undo undoes its Outcome. The
// caller asks the user what Command.Confirm says before Execute.
//
// All functions are safe from any goroutine. They do I/O, in transactions of the
// store; ExportFile also writes a file.
//
// # Caveats
//
// Exports have no cut pairs and no sent requests. Arguments of calls that are JSON
// lose their white space. An import that failed leaves the pairs before the error in
// the store, and can be repeated.
package transfer
