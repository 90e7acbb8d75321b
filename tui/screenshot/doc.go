// Package screenshot draws a frame of the screen as an SVG picture.
//
// A frame is what a screen of w×h cells shows: lines of text with the escape
// sequences of colours and attributes. SVG puts it into the window of a
// desktop. The same frame always gives the same bytes, so a test can hold a
// picture to what the program draws.
//
// A run is a stretch of a line that is drawn at once: cells that look alike.
// Every run says where it begins and how wide it is, so that columns stay
// straight whatever the fonts of the reader are. Characters that draw boxes
// and bars are drawn as lines and areas over whole cells, as terminals do, and
// always join; the picture still holds them as text, in the title of the run.
//
// SVG is a pure function and may be called from any goroutine.
//
// # Caveats
//
// The picture brings no font with it: letters look as the reader's monospaced
// font does. Of the escape sequences only those that style text count. Blinking
// text stands still, every underline is a plain one, and links are not kept.
//
// It is for tests only and draws the pictures of the README.
package screenshot
