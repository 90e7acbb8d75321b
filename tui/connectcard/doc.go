// Package connectcard is the overlay that connects a model: it lists the endpoints that were
// found, asks for a key if one is needed, checks the key, asks where to store it and which
// model to use, and writes the settings.
//
// # Types
//
// A Card is the overlay. Start searches for endpoints. The Value of the Chosen that closes the
// card is the id of the connected model; "" if the user connected none. Sentence describes a
// problem to the user, with advice.
//
// # Concurrency
//
// A Card must be used by the goroutine that runs Update and View; its overlay.Work runs in
// another goroutine.
//
// # Caveats
//
// A key being entered is drawn masked as soon as it cannot be the name of a key, such as
// env:NAME. It is not part of any outcome or error.
package connectcard
