// Package tuitest contains what the tests of the screen share: golden frames and a terminal
// in memory. It must be used only by tests.
//
// A frame is what a screen of w×h cells shows, as lines joined by newlines. Golden compares
// a frame with a file, and Exact checks the size of a frame. A Screen is a real tea.Program
// whose terminal is an emulator: a test types keys and waits for text, as a user does.
//
//	s := tuitest.Start(t, model, 80, 24)
//	s.Type("block previews", tuitest.Send)
//	s.Wait("5 models are hidden")
//
// Start, Golden and Exact fail the test themselves. A Screen ends with its test, and fails
// the test if the program ended with an error. A Screen must be used by the test's
// goroutine; a Clock may be shared.
//
// # Time
//
// Type returns when the model has seen its last key, so a test needs no sleep. A program
// that distinguishes typing from pasting by the time between keys is given a Clock, which
// Type advances by KeyGap before each key.
//
// # Caveats
//
// Type returns before the frame is on the terminal; use Wait or Until to wait for what a
// key draws. The program never receives the emulator's answers, such as its colours.
//
// # Pictures
//
// SVG draws a frame as an SVG picture of a terminal window. The same frame always gives the
// same bytes, so a test can compare a stored picture with what the program draws. The
// picture contains no font. Escape sequences that do not style text are ignored.
//
// MovieSVG joins pictures into one SVG that shows them in turn; a Shot is a picture and how
// long it is shown. A movie needs a viewer that animates CSS in SVG, as browsers do in an
// <img>. Any other viewer, or one whose user wants no motion, shows the last shot.
package tuitest
