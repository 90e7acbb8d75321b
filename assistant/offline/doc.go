// Package offline is a small rule-based model, not a language model, with the same
// HTTP and SSE interface as every other model. winnow falls back on it when no
// endpoint is configured.
//
// It serves the model filter window: it understands a documented set of English requests
// about it, calls the tools that the request offers, and answers with what they say. It
// knows the window only through the request: the tools, the tool messages, and the
// providers in the context. In other windows it calls tools by name.
//
// # Types
//
// grammar.txt defines what is understood: the synonyms, the conditions in plain words, and
// the forms of requests. A clause is one request of a message: a kind, a selection of
// models in words, and a scope of providers. What the words mean is up to the window:
// plan_rules gives the plan of a change, find_models the models of a question. A
// conversation works out one response and keeps nothing between requests: a call whose
// result is in the request is not repeated.
//
// # What it does not do
//
// A message is acted on as a whole or not at all: if a word is not understood, nothing
// changes, and at most three likely requests are proposed with their effects. Hiding more
// than half of what a provider shows, and any change for all providers, needs confirmation:
// it is proposed with propose_rules for each provider, and "yes" or accepting the proposals
// carries it out. A sentence that ends with a question mark or begins with "would" changes
// nothing: its change is proposed.
//
// # Concurrency
//
// Requests are answered from any goroutine; each reply is streamed by a separate goroutine,
// which ends with the request's context or when the body is closed. The same request gives
// the same bytes.
//
// # Caveats
//
// It understands English only. Every reply is a stream. It uses no tokens.
package offline
