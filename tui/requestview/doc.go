// Package requestview shows a request to a model as a reader wants it: one section for
// the parameters, one for the tools, one for each message, with what they cost.
//
// # Types
//
// A View is an overlay. Its sections fold; the newest message is open. A search opens
// the sections that contain the text. One key shows the bytes instead, as they are sent.
// Sent returns the stored requests of a pair as a Request each, with its title.
//
// # Concurrency
//
// A View belongs to the goroutine that runs Update and View.
//
// # Caveats
//
// Of a text, and of the bytes, at most maxShown are shown; a line says how many are not.
// The bytes of a picture are left out: what stands for them says so.
//
// Texts are untrusted: they are drawn with invisible characters spelled out. Tokens are
// estimates, as in the counter. A request that is not understood is shown as bytes.
package requestview
