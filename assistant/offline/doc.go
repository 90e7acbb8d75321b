// Package offline is a small rule-based model, not a language model, behind
// the same HTTP and SSE wire as every other model. winnow falls back on it
// when no endpoint is configured.
//
// It understands a documented set of English requests about the model filter
// window, calls the tools that the request offers, reads their results, may go
// on (at most four rounds a turn), and answers with the numbers of the results.
// It knows the window only through the request: the context JSON in the system
// message, the tools, the tool messages. Where the context shows another
// window it says what it can do there: search, when search_pairs is offered.
// The chat history is a window that it understands, too.
//
// # Nouns
//
// A clause is one request of a message; a step is a clause understood. A
// selector names a set of models in words; a goal is a selector made concrete:
// a pattern for one provider. A turn works out one response. It keeps nothing
// between requests: each time, the steps are run from the beginning, and a
// call whose result the request already holds is not made again.
//
// # Grammar
//
// Case and punctuation do not matter; polite words are skipped.
//
//	message  = clause { (";" | "." | "!" | "?" | "then" | ("and" | "," | line break) before a verb) clause }
//	clause   = hide LIST | allow LIST | only LIST | unhide LIST | unallow LIST
//	         | "remove the [ignore|allow] rule" X | "clear all [ignore|allow] rules"
//	         | "add" LIST "to the ignore list|whitelist" | LIST "should [not] be hidden|available"
//	         | "explain" X | "why is" X "hidden" | "is" X "available" | "details of" X
//	         | "what|which … is|are hidden|available|allowed" | "show rules|providers|models|changes"
//	         | "find" LIST | "which models match" LIST | "import [ignore|allow]" LIST
//	         | "propose rules for" clause | "undo" | "save" | "discard" | "switch to" PROVIDER
//	         | "refresh" | "help" | "yes" | "no" | "what would happen if I" clause
//	         | "which models are hidden|available" ["and why" | "and by which rule"] | "why are models hidden"
//	         | "which rule hides" X | "what does the rule" X "hide" | "which rules hide nothing"
//	         | "remove the first|last [ignore|allow] rule"
//	LIST     = selector { ("," | "and" | "or") selector } [ ("except" | "but not" | …) LIST ]
//	selector = ["newest" [N] | "old"] { word | id | pattern | "quoted" } ["models"]
//	           ["containing|starting with|ending in" word] ["from" PROVIDER]
//
// The words for each verb are in lexicon.go (block, ignore, disable; keep,
// whitelist; unblock, stop hiding; take that back; …). A pattern is used as it
// is; an existing id is itself; the name of a family ("Claude", "GPT-4 models")
// becomes `claude*`; any other word becomes `*word*`. "hide everything but X"
// is "only X"; "keep everything but X" is "hide X"; without a verb it asks
// which of the two. "only X" is the ignore rule `*` and allow rules for X;
// "hide X except Y" is an ignore rule and an allow rule. Three literal rules
// or more under one verb become one import_rules. A word that no model has in
// its name and that names no sort of model (lexicon.go) makes no rule: it is a
// slip or a trait that names do not tell. A word that does, and fits no model
// of the shown provider, is looked for in the others.
//
// # The chat history
//
//	message  = request { (";" | "." | "then" | ("and" | "," | line break) before a verb) request }
//	request  = "find|search|show" PAIRS | "read" NUMBERS | "summarise" PAIRS | "star" PAIRS ["with" N "stars"]
//	         | "give" (N "stars to" PAIRS | PAIRS N "stars") | "unstar|flag|unflag" PAIRS | "put" PAIRS "under" TOPIC
//	         | "set the topic of" PAIRS "to" TOPIC | "take" PAIRS "out of its topic" | "rename topic" TOPIC "to" NAME
//	         | "move topic" TOPIC "under" TOPIC | "delete topic" TOPIC | "list topics|sessions"
//	         | "save line" LINE "as" NAME | "forget filter" NAME | "undo" | "help"
//	PAIRS    = NUMBERS | "them" | "line" LINE | { word | "quoted" | "starred" | "flagged" | "failed" | N "stars"
//	         | "last" N | "last|older than|newer than" [N] UNIT | "today" | "yesterday" | "in this session"
//	         | "in topic" TOPIC | "by" MODEL | "not" one of these }
//
// "them" are the pairs of the last result. Words are looked for in the texts of
// other sessions: this one repeats them. "star" alone is one star. A summary is
// what was asked and how each answer begins. "undo" gives pairs back the marks
// that the results of the tools say they had.
//
// # Newest
//
// An id's version is its first run of numbers that are neither a date nor a
// size: [3 5] in claude-3-5-sonnet, [4] in gpt-4o, [3] in qwen3-32b. Its date is
// 20251101, 2025-11-01 or 0613; none or "-latest" counts as the latest. "The
// newest X" are all models of X with the highest version, one (the latest) of
// each line; a line is an id without version and date. "The newest N X" are N
// models by version, then date, then the shorter id. Speech, picture and
// embedding models are passed over unless there is nothing else. The newest of
// a provider is looked for in the family its vendor is known for, else in its
// largest, because versions of different families cannot be compared.
//
// # Who may call what from where
//
// New's Model is an http.Handler for any number of goroutines. Start serves it
// on loopback with a token. Everything else is pure: the same request gives
// the same bytes.
//
// # Caveats
//
// It understands English only, and only what the grammar says; for the rest it
// says so and shows examples that work. A rule that would hide every model is
// asked about unless the words are plain. It cannot roll back: "undo" reverses
// its own rule changes found in the conversation, else it names the key.
// Reported usage is an estimate of 3.5 runes a token.
//
// The package implements section 11.4 of winnow's specification.
package offline
