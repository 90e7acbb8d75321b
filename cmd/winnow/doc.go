// Command winnow is a chat client for the terminal whose assistant sees and
// changes the window it lives in: the model filter of an LLM proxy or, with
// --window history, the chat history.
//
// # How it is built
//
// main calls run, which returns the exit status. newRoot is the table of all commands. Each command is declared in a
// file of its own, by a method of app that sets its arguments, help, flags and action, so a new command needs one
// file and one line in the table. The commands use cobra. Through app, each command opens only what it needs:
// settings, window, journal, history, endpoints. Package topics contains the pages of `winnow help`. No connection is
// opened, no catalogue is read and no renderer is created before a command needs it.
//
// # Exit status
//
// The variable statuses lists the exit statuses; `winnow help exit` prints them.
//
// # Output
//
// Data goes to standard output, everything else to standard error. The output is for people; with --json it is for
// programs. Text from other sources is sanitised before it is printed.
//
// # Caveats
//
// An API key given as cmd:… in the settings runs that command when its endpoint is first used. If another process has
// locked the journal of the same .env file, commands that stage or save rules wait up to 5 seconds and then fail;
// read-only commands work.
package main
