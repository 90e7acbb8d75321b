// Package connect connects a model: it finds the endpoints that could be used, checks
// one, and writes it to the settings.
//
// # Types
//
// A Connector does it for one run of the program. A Candidate is an endpoint that it
// found, or one that needs a key or an address first. A Checked is a candidate that has
// listed its models. A Problem is why a candidate cannot be used, or not be stored: a
// code with facts; a front end adds what to do. A Storage says where a pasted key goes. A
// Flow is the order of the questions; the card of the screen and the questions on a
// terminal are its two faces.
//
// # Concurrency
//
// Except where their doc says otherwise, the methods of a Connector do I/O. All are safe from any goroutine.
//
// # Caveats
//
// Search asks servers of this machine and the proxy of the folder alone; keys of the
// environment are named, not sent. Check sends a key to the candidate's own address. No
// error contains a key. Save changes the settings first and the run afterwards: what it
// wrote stays when the run cannot use it.
package connect
