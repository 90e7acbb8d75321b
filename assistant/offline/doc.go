// Package offline is a small rule-based model, not a language model, with the same
// HTTP and SSE interface as every other model. winnow falls back on it when no
// endpoint is configured.
//
// It understands a documented set of English requests about the model filter window
// and the chat history, calls the tools that the request offers, and answers with the
// numbers of their results. It knows the window only through the request: the context
// JSON in the system message, the tools, the tool messages.
//
// # Types
//
// grammar.txt is what is understood: the synonyms, the conditions and how they are said, the
// forms of requests. A token is one piece of a message, a step is one request of it: a verb, a
// selection of models in words, and providers. A target is what a selection means on one
// provider, a plan is the edits of rules that a step needs. A conversation works out one
// response and keeps nothing between requests: the plans are made again each time, and a
// call whose result the request has is not repeated.
//
// # What it does not do
//
// A message is acted on as a whole or not at all: with a word left over nothing changes,
// and at most three requests that may be meant are proposed with their effect. Hiding more
// than half of what a provider shows, and any change for all providers, is asked about with
// counts and propose_rules for each provider; "yes" or accepting the proposals does
// it. A sentence that ends with a question mark or begins with "would" changes nothing: its
// change is proposed. "Would this break anyone?" and "is anything over $10 shown?" are
// answered with find_models, "undo" with undo, rules with list_rules, "what would a save
// change?" with plan_save.
//
// # Selections
//
//	selection = part { ("," | "and") part }
//	part      = item { ("," | "and" | "or") item } [ "except" item { … } ] [ "on" PROVIDER … | "on every provider" | "everywhere" ]
//	item      = ["newest" [N]] { word | id | pattern | "quoted" | condition } ["models"] | PROVIDER "models" | "everything"
//
// A word stands for the models that have it in their name between separators: `mini` is no
// part of `gemini`. An id is itself, unless "models" follows: "gpt-4 models" are `gpt-4*`.
// The pattern of a word is the first of `word*`, `*word*`, `*-word*`, … that matches just
// these models, else they are named, by common beginnings or one by one. Quoted text and
// text with wildcards is used as it is. What a condition holds for is asked with
// find_models. Without a provider the shown one is meant, or the only other provider that
// has the id or family.
//
// # Concurrency
//
// Package wire reads the requests and streams the answers, to any number of goroutines.
// The same request gives the same bytes.
//
// # Caveats
//
// It understands English only. Lists that a query cuts are looked up again by the words of
// the selection; where even that is cut, what is not listed counts as hidden by the change.
package offline
