// Package transfer exports and imports the pairs of a history.Store, and executes the :command of a filter line. It
// uses only the interface history.Store, so it works with every engine.
//
// Export writes pairs in a Format, and Import reads the JSON format. Prepare makes a Command from a filter line.
// Execute executes the Command, and Undo undoes its Outcome. Before calling Execute, the caller asks the user the
// question that Command.Question returns.
//
// All functions may be called from any goroutine. They do I/O in transactions of the store; ExportFile also writes a
// file.
//
// # Caveats
//
// Exports contain neither cut pairs nor sent requests. Arguments of tool calls that are JSON lose their white space. A
// failed import leaves the pairs before the error in the store, and can be repeated.
package transfer
