// Package llm is what a language model is to winnow: the request it is given,
// the parts of its answer as they arrive, how it fails, and the registry of the
// endpoints that have models.
//
// # Nouns
//
// A Model answers a Request with a stream of Parts, the last of which is an End;
// an answer that stops before its end is a RequestError. assistant/openai is the
// Model behind a chat completions endpoint, assistant/offline answers by rules,
// assistant/assistanttest plays scripts. A Provider is an endpoint under a name, a
// ModelInfo describes one of its models. A Registry is the providers, their
// models, and the Quota that each endpoint reported of a model. A Selection
// chooses a model for what is needed.
//
// # Who may call what from where
//
// A Model and a Registry are safe from any goroutine; everything else is plain
// data.
//
// # Caveats
//
// Text in Parts is sanitised by the Model, the arguments of a Call are not.
//
// The package imports assistant/budget and assistant/nearest, and nothing of the
// engine: a new kind of endpoint needs this package only.
package llm
