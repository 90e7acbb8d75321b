// Command winnow is a chat client for the terminal whose assistant sees and
// changes the window it lives in: the model filter of an LLM proxy or, with
// --window history, the chat history.
//
// # How it is built
//
// main hands everything to run, which returns the exit status. newRoot is the table
// of all commands. Each is declared in a file of its own, by a function of the app
// that declares its arguments, help, flags and what it does: a new command is such a file
// and a line of the table. The commands are cobra's; each opens, through the app, only what it needs: settings, window,
// journal, history, endpoints. Package topics is the pages of `winnow help`. Nothing is connected to, no catalogue is read
// and no renderer made before a command asks for it.
//
// # Exit status
//
// statuses lists them; `winnow help exit` prints them.
//
// # Output
//
// Data goes to standard output, everything else to standard error. On a
// terminal it is meant for people, with --json for programs. Text that others
// wrote passes the sanitiser on its way out.
//
// # Caveats
//
// An API key that the settings give as cmd:… runs a command when its endpoint is
// first used. Another process that holds the journal of the same .env file makes
// commands that stage or save rules fail; those that only look work.
package main
