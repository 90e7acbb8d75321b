// Package endpoints finds the available endpoints, in this order of preference: the address that the user names, the
// endpoint that OPENAI_BASE_URL and OPENAI_API_KEY describe, the providers in the settings, the proxy of the folder's
// .env file, the usual local servers, and the built-in offline model. The package also connects new models: it searches
// for candidates, checks one, and writes it to the settings.
//
// # Types
//
// An Endpoint is an address that serves models, and implements llm.Model. An automatic endpoint was found rather than
// set up by the user; it is used if it responds. A remote endpoint is an automatic one on another machine, named by a
// file in the folder; it is used only if the user names it. A Set contains all endpoints of a run and the registry of
// their models.
//
// A Connector connects a model in one run of the program. A Candidate is an endpoint that it has found, or one that
// first needs a key or an address. A Checked is a candidate that has listed its models. A Problem is the reason why a
// candidate cannot be used or stored: a code with facts, to which a front end adds advice. A Storage is a place for a
// pasted key. A Flow is the sequence of questions that ends with a connected model; the screen and the command line both
// use it.
//
// # What is stored
//
// The last model list of each address is stored with its time, together with models that only earlier lists
// contained. These models count as gone once the address has responded in this run; until then, the stored list is used
// and no model counts as gone. A context limit learned from an error is used for a week and takes precedence over all
// other sources.
//
// # Concurrency
//
// Find reads files but opens no connections. An Endpoint connects on first use; for the offline model, this starts
// the model. The methods of Set and Endpoint may be called from any goroutine after Find. The methods of a Connector
// do I/O, unless documented otherwise, and may be called from any goroutine.
//
// # Caveats
//
// Search sends requests only to servers on this machine and to the folder's proxy; it lists keys in the environment and
// in the .env file without sending them. Check sends a key only to the candidate's own address. Errors contain no key.
// Save changes the settings first and the run afterwards, so the settings stay changed even if the run cannot use the
// model.
//
// A key is sent only to the origin (scheme, host and port) that it was entered for. A key given as a command runs
// that command when its endpoint is first used.
package endpoints
