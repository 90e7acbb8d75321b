// Package connectcard is the overlay that connects a model: it shows what was found, asks
// for a key if one is needed, checks it, asks where to store it and which model to use, and
// writes it to the settings.
//
// # Types
//
// A Card is the overlay. Start searches for endpoints. The Value of its Chosen is the id of
// the connected model; "" if the user skipped the card, or started to type a message, which
// is then in Query. Sentence describes a problem to the user, with advice.
//
// # Concurrency
//
// A Card must be used by the goroutine that runs Update and View; its overlay.Work runs in
// another goroutine.
//
// # Caveats
//
// A key being entered is drawn masked, and is not part of any outcome or error.
package connectcard
