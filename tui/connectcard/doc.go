// Package connectcard is the overlay that connects a model: it shows what was found,
// asks for a key where one is needed, checks it, asks where to store it and which model
// to use, and has it written to the settings.
//
// # Types
//
// A Card is the overlay. It opens with Start, which searches. The Value of its Chosen is
// the id of the model that answers now; "" if the user skipped the card, or
// types a message, whose beginning is Query. Sentence is a problem of a check as users
// read it, with the way out.
//
// # Concurrency
//
// A Card belongs to the goroutine that runs Update and View; what it asks for as
// overlay.Work runs on any other.
//
// # Caveats
//
// A key that is being entered is drawn masked, and is in no outcome and no error.
package connectcard
