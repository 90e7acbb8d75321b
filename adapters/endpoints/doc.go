// Package endpoints finds the endpoints to use: the address that the user names,
// OPENAI_BASE_URL and OPENAI_API_KEY, the providers of the settings, the proxy of
// the folder's .env file, the usual local servers, and the built-in offline model,
// in this order of preference. It connects a model that is not set up yet: it searches for
// candidates, checks one, and writes it to the settings.
//
// # Types
//
// An Endpoint is an address that serves models, and is itself an llm.Model. An automatic endpoint was
// found, not set up by the user: it is used if it answers. A remote endpoint is an
// automatic one on another machine, named by a file of the folder: it is used only
// if the user names it. A Set holds all endpoints of a run and the registry of their
// models.
//
// A Connector connects a model, for one run of the program. A Candidate is an endpoint
// that it found, or one that needs a key or an address first. A Checked is a candidate
// that has listed its models. A Problem is why a candidate cannot be used, or not be
// stored: a code with facts; a front end adds what to do. A Storage says where a pasted
// key goes. A Flow is the order of the questions; the card of the screen and the
// questions on a terminal are its two faces.
//
// # What is kept
//
// The last model list of each address is stored with its time, and with models that only
// earlier lists had. Those count as gone once the address answers again without them.
// Until then, and while it does not answer, the stored list is used and no model counts
// as gone. A context limit that an error named is stored too, for a week, and takes
// precedence over all other descriptions.
//
// # Concurrency
//
// Find reads files and connects to nothing. An Endpoint connects when it is
// first used, and starts the offline model then. Methods of Set and Endpoint are
// safe from any goroutine after Find. Except where their doc says otherwise, the methods
// of a Connector do I/O; all are safe from any goroutine.
//
// # Caveats
//
// Search asks servers of this machine and the proxy of the folder alone; keys of the
// environment are named, not sent. Check sends a key to the candidate's own address. No
// error contains a key. Save changes the settings first and the run afterwards: what it
// wrote stays when the run cannot use it.
//
// A key goes only to the origin (scheme, host and port) that it was entered for. A key
// that is given as a command runs that command when its endpoint is first used.
package endpoints
