// Package tuitest is what the tests of the screen have in common: golden frames
// and a terminal in memory.
//
// A frame is what a screen of w×h cells shows, as lines joined by new lines.
// Golden compares one with a file, Exact counts its cells. A Screen is a real
// tea.Program whose terminal is an emulator: a test types keys and waits for
// text, as a user does.
//
//	s := tuitest.Start(t, model, 80, 24)
//	s.Type("block previews", tuitest.Send)
//	s.Wait("5 models are hidden")
//
// Start, Golden and Exact end the test themselves; a Screen ends with its test
// and fails it when the program panicked. A Screen belongs to the test's
// goroutine; a Clock may be shared.
//
// # Time
//
// Type returns when the model has seen its last key, so a test needs no sleep. A
// program that tells typing from pasting by the time between keys is given a
// Clock: Type moves it by KeyGap before each key.
//
// # Caveats
//
// Type returns before the frame is on the terminal: what a key draws is waited
// for with Wait or Until. It hears no answers of the
// terminal.
//
// # Pictures
//
// SVG draws a frame as an SVG picture of a terminal window. The same frame
// always gives the same bytes, so a test can compare a stored picture with what
// the program draws. The picture brings no font with it; of the escape
// sequences only those that style text count.
//
// It is for tests only and implements the harness of the "frames" and "program"
// kinds of test in the house style.
package tuitest
