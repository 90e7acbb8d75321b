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
// A token is one piece of a message; for a synonym it has the word that the forms use. A
// step is one request of it. A form is one way to say a kind of step; forms.go is the
// table of all forms. A selection is a set of models in words, a target is what it means
// on one provider. A plan is the edits of rules that a step needs. A conversation works
// out one response and keeps nothing between requests: the plans are made again each time,
// and a call whose result the request has is not repeated.
//
// # What it does not do
//
// A message is acted on as a whole or not at all: with a word left over that no form,
// no provider and no model's name explains, nothing changes, and the answer says what
// was understood and what was not. Hiding more than half of what a provider shows, and
// any change for all providers, is asked about with counts and a rule_proposal payload
// for each provider; "yes" or accepting the proposals does it. "undo" takes back as
// many messages' changes as it is asked to, or none. A sentence that ends with a
// question mark or begins with "would" changes nothing: its change is proposed.
//
// # Selections
//
//	selection = part { ("," | "and") part }
//	part      = item { ("," | "and" | "or") item } [ "except" item { … } ] [ "on" PROVIDER … | "on every [major] provider" | "everywhere" ]
//	item      = ["newest" [N]] { word | id | pattern | "quoted" } ["models"] | PROVIDER "models" | "everything"
//
// A word stands for the models that have it in their name between separators;
// `mini` is no part of `gemini`. An id is itself, unless "models" follows:
// "gpt-4 models" are `gpt-4*`. Words are not stemmed: `opus` is `*opus*`. The
// pattern of a word is the first of `word*`, `*word*`, `*-word*`, … that matches
// just these models, else they are named one by one. Text with wildcards is used
// as it is, and so is quoted text that is a model's name; other quoted text is a word. "The newest X" are the models of X with the highest
// version, one of each series; "the
// newest N X" are N of them. Without a provider the shown one is
// meant, or the only other provider that has the id or family.
//
// # Concurrency
//
// Package wire reads the requests and streams the answers, to any number of goroutines.
// The same request gives the same bytes.
//
// # Caveats
//
// It understands English only. Lists that the context and a query cut are looked
// up again by the words of the selection; where even that is cut, what is not
// listed counts as hidden by the change, so the model may ask when it need not.
// In the chat history it searches, stars, flags, files under topics and summarises;
// nothing else.
package offline
