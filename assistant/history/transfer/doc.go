// Package transfer exports and imports the pairs of a history.Store, and executes the :command of a filter line. It
// uses only the interface history.Store, so it works with every engine.
//
// Export writes pairs in a Format, Import reads the JSON format, and Copy adds the pairs of one store to another. Prepare
// makes a Command from a filter line. Execute executes the Command, and Undo undoes its Outcome. If Command.Question
// returns a question, the caller asks the user before calling Execute.
//
// All functions may be called from any goroutine. They do I/O in transactions of the store; ExportFile also writes a
// file.
//
// # Caveats
//
// Exports contain neither cut pairs nor sent requests. Arguments of tool calls that are JSON lose their white space. A
// failed import leaves the pairs before the error in the store, and can be repeated.
package transfer
