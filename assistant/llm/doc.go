// Package llm is winnow's interface to language models: the request, the parts of
// the answer as they arrive, the errors, and the registry of the endpoints and
// their models.
//
// # Types
//
// A Model answers a Request with a stream of Parts, the last of which is an End;
// an answer that stops before its end is a RequestError. assistant/openai is the
// Model behind a chat completions endpoint, assistant/offline answers by rules,
// assistant/assistanttest plays scripts. A Provider is an endpoint under a name, a
// ModelInfo describes one of its models. A Registry is the providers, their
// models, and the Quota that each endpoint reported of a model. A Selection
// chooses a model that meets a Need.
//
// # Concurrency
//
// A Model and a Registry are safe from any goroutine; everything else is plain data.
//
// # Caveats
//
// The Model sanitises the text in Parts, but not the arguments of a Call.
//
// The package imports assistant/attachment, assistant/budget and assistant/nearest, and nothing of the
// engine: a new kind of endpoint needs this package only.
package llm
