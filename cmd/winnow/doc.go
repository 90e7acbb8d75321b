// Command winnow is a chat client for the terminal whose assistant sees and
// changes the window it lives in: the model filter of an LLM proxy or, with
// --window history, the chat history.
//
// # How it is built
//
// main calls run, which returns the exit status. newRoot lists all commands. The commands use cobra: a function such
// as askCommand sets the arguments, help, flags and action of a command. Through app, each command opens only what it
// needs: settings, window, journal, history, endpoints. Package topics contains the pages of `winnow help`. No
// connection is opened, no catalogue is read and no renderer is created before a command needs it.
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
// If the settings give an API key as cmd:…, that command runs when the endpoint is first used. If another process has
// locked the journal of the same .env file, commands that stage or save rules wait up to 5 seconds and then fail;
// read-only commands work.
package main
