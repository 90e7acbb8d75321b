// Package offline is a small rule-based model, not a language model, with the same HTTP and
// SSE interface as every other model. winnow uses it when no endpoint is configured.
//
// It serves the model filter window: it understands a documented set of English requests
// about it, calls the tools that the request offers, and answers with their results. It
// knows the window only through the request: the tools, the tool messages, and the context
// in the system message. In other windows it calls tools by name.
//
// grammar.txt defines what is understood. A clause is one request of a message: a kind, and
// a selection of models in words with their providers. The window decides what the words
// mean: plan_rules returns the plan of a change, and find_models the models that a question
// is about. A conversation works out one response and keeps nothing between requests: a
// call whose result is in the request is not repeated.
//
// A message is acted on as a whole or not at all: if a word is not understood, nothing
// changes, and at most three likely requests are proposed with their effects. A change that
// plan_rules says must be confirmed, or that the user only asked about, is proposed with
// propose_rules; "yes" or accepting the proposals carries it out.
//
// Requests may be made from any goroutine. Equal requests get identical responses. Every
// answer is a stream and reports no tokens as used. Only English is understood.
package offline
