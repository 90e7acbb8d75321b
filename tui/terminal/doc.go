// Package terminal runs a Bubble Tea program in a terminal, and restores the terminal
// however the program ends: normally, by a signal, by a panic, or because the terminal is
// gone or has stopped reading. It also reads the keys, and tells a user who is looking
// elsewhere what the program is doing.
//
// # Types
//
// Run may be called once at a time, from one goroutine. While it runs, file descriptor 2 of
// the process does not lead to the terminal, so no library can write over the screen.
//
// A KeyReader reads the bytes of keys and knows when they arrived, which the program that
// parses them does not. If several characters of text arrive within 10 ms on a terminal
// that does not mark its pastes, the reader adds the marks of a bracketed paste. If the end
// of a marked paste was lost, which would swallow all later keys, the reader ends the paste
// after 2 s of silence.
//
// An Attention describes what the program is doing. It is shown in the title of the
// terminal's window, as progress in its tab or in the task bar (OSC 9;4), as the program's
// status (OSC 7501), and as a notification (OSC 9). Notify returns a command for the
// program.
//
// # Concurrency
//
// Only one goroutine may read from a KeyReader; AcceptText may be called from any
// goroutine. The methods of an Attention are pure.
//
// # Caveats
//
// A program that does not end within graceTime after a signal is ended by os.Exit. On
// Windows file descriptor 2 is not redirected, and there is no job control. On a system
// without poll no pastes are recognised: pastes without marks count as typed text.
//
// The texts of an Attention may come from anywhere: this package sanitises them. Terminals
// ignore the sequences that they do not know. A status outlives the program, so the caller
// that runs the program must write ClearStatus after it has ended.
package terminal
