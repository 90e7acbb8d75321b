// Package terminal runs a Bubble Tea program in a terminal, and leaves the terminal as it
// was, however the program ends: in order, by a signal, by a panic, or because the
// terminal is gone or has stopped reading. It also reads the keys and tells a user who
// looks elsewhere what the program does.
//
// # Types
//
// Run may be called once at a time and from one goroutine. While it runs, file
// descriptor 2 of the process does not lead to the terminal: no library can write
// over the screen.
//
// A KeyReader reads the bytes of keys and sees when they arrive; the program that parses
// them does not. Text of several characters that arrives within 10 ms, on a terminal that
// does not mark its pastes, gets the marks of a bracketed paste. A marked paste whose end
// was lost, which would swallow all later keys, is ended after 2 s of silence.
//
// An Attention is what the program does, a value: it is shown by the title of the
// terminal's window, by the progress that terminals show in tab or task bar (OSC 9;4), by
// the program's status (OSC 7501), and by a notification (OSC 9). Notify makes a command
// of the program.
//
// # Concurrency
//
// One goroutine reads from a KeyReader; AcceptText may be called from any. The methods of
// an Attention are pure.
//
// # Caveats
//
// A program that does not end within graceTime after a signal is ended by os.Exit.
// On Windows file descriptor 2 is not redirected, and there is no job control. On a
// system without poll no key is marked: pastes without marks are typed text.
//
// The texts of an Attention may come from anywhere: they are sanitised here. Terminals that
// do not know one of the sequences ignore it. A status outlives the program: who runs the
// program writes ClearStatus when it has ended.
package terminal
