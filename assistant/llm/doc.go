// Package llm is winnow's interface to language models: the request, the parts of the
// answer as they arrive, the errors, and the registry of the endpoints and their models.
//
// # Types
//
// A Model answers a Request with a stream of Parts that ends with an End; an answer that
// breaks off ends with a RequestError instead. assistant/openai implements Model for chat
// completions endpoints, of which assistant/offline is one, and assistant/assistanttest
// with scripts. A Provider is an endpoint with a name; a ModelInfo describes one of its models.
// A Registry holds the providers, their models, and the Quota that each endpoint reported
// for a model. A Selection chooses a model that meets a Need. CheckBaseURL checks the address
// of an endpoint.
//
// # Concurrency
//
// A Model and a Registry may be used from any goroutine; everything else is plain data.
//
// # Caveats
//
// The text in Parts is clean, but not the arguments of a Call.
//
// The package imports assistant/attachment, assistant/budget, assistant/nearest and
// assistant/safetext, but not package assistant: a new kind of endpoint needs only this
// package.
package llm
