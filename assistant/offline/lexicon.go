package offline

import (
	"sort"
	"strings"
)

// kind is what one step asks for.
type kind int

const (
	unknown kind = iota
	hide
	allow
	only
	unhide
	unallow
	removeRule
	clearRules
	explain
	list
	find
	details
	undo
	save
	discard
	switchTo
	refresh
	importRules
	propose
	help
	greet
	thanks
	yes
	no
	compare // versions are compared beyond "newest" and "old"
	beyond  // what a list of names and rules does not tell
	unused  // which rules decide nothing
	clarify // the words can mean two things; step.offers holds both

	// Verbs whose meaning the words after them decide; the parser replaces them.
	verbRemove
	verbClear
	verbAdd
	verbShow
	verbWhat
	verbWhy
	verbIs
	verbRevert
	verbMake
	verbWant
	verbReplace
)

// phrases is the dictionary of what a request may begin with; the longest
// phrase that fits wins.
var phrases = map[kind]string{
	hide: "hide|block|ignore|disable|ban|exclude|filter out|get rid of|kill|turn off|switch off|deny|blacklist|suppress|" +
		"don't show|do not show|dont show|stop showing|never show|no more|disallow|hiding|blocking|ignoring|disabling|" +
		"i don't want|i do not want|i dont want|i don't need|i do not need|don't expose|do not expose|no",
	allow: "allow|whitelist|white list|keep|always show|always allow|always keep|always expose|permit|expose|let through|protect|" +
		"allowing|whitelisting|keeping|exposing|permitting",
	only: "only|nothing but|only allow|only show|only keep|only expose|allow only|keep only|show only|show nothing but|" +
		"allow nothing but|keep nothing but|show me only|only have|leave only|only leave|just keep|just allow|just show|" +
		"keep just|expose only|only want|i only want|i just want|i want only|i only want to see|only want to see|i just want to see|" +
		"i want to see only|i only need|only need|we only need|i only use|we only use|just have|have just|have only|just the",
	unhide: "unhide|unblock|unignore|un-hide|un-block|un-ignore|stop hiding|stop blocking|stop ignoring|reenable|re-enable|" +
		"enable|bring back|turn on|don't hide|do not hide|dont hide|don't block|do not block|no longer hide|unhiding|unblocking",
	unallow: "unallow|unwhitelist|un-allow|un-whitelist|stop allowing|stop whitelisting|no longer allow|don't allow|do not allow|" +
		"dont allow|stop keeping",
	explain:  "explain|status of|what about|tell me why|what happened to|what happened with|where is|where are",
	find:     "find|search for|search|look for|look up|match|models matching|what matches",
	details:  "details|details of|details for|details on|details about|show details|tell me about|describe|info on|info about|information about|show me details|get details|inspect",
	undo:     "undo|take that back|take it back|take this back|revert that|revert it|roll back|rollback|go back|undo that|undo it|roll that back|i didn't mean that",
	save:     "save|write|commit|persist|store|saving|write out",
	discard:  "discard|throw away|abandon|drop changes|drop the changes|drop my changes|cancel the changes|cancel changes|forget the changes|forget changes|discarding|throw everything away|throw it all away|throw away everything|throw my changes away",
	switchTo: "switch to|switch over to|switch provider to|switch the provider to|change to|change provider to|change the provider to|go to|use|select provider|open provider|open|switch provider|select",
	refresh:  "refresh|reload|refetch|re-fetch|update the models|update models|update the model list|fetch models|fetch the models|refreshing",
	importRules: "import|import rules|import the rules|import these rules|import the following rules|" +
		"import this list",
	propose: "propose|suggest|recommend|what would you suggest|what do you suggest|what do you recommend|draft|what would happen if i|what would happen if we|what happens if i|what happens if we|what if i|what if we",
	help: "help|what can you do|what can i do|what can i say|what can i ask|who are you|what are you|how does this work|" +
		"how do i|how can i|commands|usage|what do you do|what do you understand|are you an llm|are you a model|are you real",
	greet:  "hi|hello|hey|good morning|good evening|good afternoon|greetings|hallo|yo",
	thanks: "thanks|thank you|thx|cheers|great|perfect|nice|cool|good|well done|awesome",
	yes:    "yes|y|yep|yeah|sure|ok|okay|do it|go ahead|proceed|confirm|confirmed|yes please",
	no:     "nope|cancel|never mind|nevermind|stop|don't|do not|forget it|leave it",

	verbRemove:  "remove|delete|drop|take out",
	verbClear:   "clear|wipe|empty|erase|reset|clean|clean up|start over|start fresh",
	verbAdd:     "add|put|create|append",
	verbShow:    "show|list|show me|display|give me|print|overview|summary|summarize|summarise|status|see|let me see|count",
	verbWhat:    "what|which|how many|what's|whats|where",
	verbWhy:     "why|how come|why's",
	verbIs:      "is|are|isn't|are there|is there|can i use|can i see|does",
	verbRevert:  "revert|restore",
	verbMake:    "make|set|let|leave",
	verbWant:    "i want|i'd like|i would like|i need",
	verbReplace: "replace|replace the rules with|replace rules with|replace all rules with|replace everything with",
}

// phrase is one entry of the dictionary, its words in order.
type phrase struct {
	words []string
	kind  kind
}

// dictionary finds the phrases by their first word, longest first.
var dictionary = buildDictionary()

func buildDictionary() map[string][]phrase {
	d := make(map[string][]phrase)
	for k, all := range phrases {
		for p := range strings.SplitSeq(all, "|") {
			ws := strings.Fields(p)
			d[ws[0]] = append(d[ws[0]], phrase{ws, k})
		}
	}
	for _, ps := range d {
		sort.Slice(ps, func(i, j int) bool {
			if len(ps[i].words) != len(ps[j].words) {
				return len(ps[i].words) > len(ps[j].words)
			}
			return ps[i].kind < ps[j].kind
		})
	}
	return d
}

// set builds a word set from a line of words.
func set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	questionWords = set("why what which who where is are can could would will do does how any isn't aren't what's")

	// fillers may stand before a request and mean nothing.
	fillers = set("please kindly just now also then so well okay ok hey hi hello and but or plus & finally next afterwards after lets let's too first second again actually maybe simply quickly that oops whoops ah oh hmm um uh ugh argh sorry wait")

	// openings are longer fillers.
	openings = []string{
		"can you", "could you", "would you", "will you", "can we", "could we", "i want to", "i want you to", "i'd like to",
		"i would like to", "i'd like you to", "i would like you to", "i need to", "i need you to", "make sure", "make sure that", "make sure to",
		"set up the filter so that", "set up the filter so", "set it up so that", "set it up so", "configure the filter so that",
		"configure the filter so", "help me to", "help me", "go ahead and", "would you mind", "set up the rules so that", "set up the rules so", "let us", "we should", "you should", "i think we should", "after that", "if possible", "tell me", "let me know", "let me know if",
	}

	// closings may stand after a request and mean nothing.
	closings = set("please now thanks thank you too again available visible exposed remain remains stay stays are is be should afterwards instead first immediately right away for me there here then shown anymore")

	determiners = set("the all every each any those these of my our a an some both that which are is please also just model's named called to it's")
	nouns       = set("model models version versions ones one variant variants family families series stuff things thing generation generations llm llms")
	plurals     = set("models versions ones variants families family series stuff things generation generations llms")
	everything  = set("everything anything")
	pronouns    = set("it them they those these this that")
	newestWords = set("newest latest recent freshest newer")
	oldWords    = set("old older oldest outdated obsolete")
	exceptWords = set("except excluding besides unless without minus")
	placeWords  = set("from on by in for at under")
	hiddenWords = set("hidden blocked ignored disabled unavailable hides blocks hide block ignore")
	shownWords  = set("available visible exposed usable left active")
	allowWords  = set("allowed whitelisted allow whitelist protected allows")

	numbers = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

	// families are the names that model ids begin with; the value is the
	// provider that serves the family itself.
	families = map[string]string{
		"gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "davinci": "openai", "babbage": "openai",
		"dall-e": "openai", "whisper": "openai", "tts": "openai", "sora": "openai", "codex": "openai",
		"claude": "anthropic", "gemini": "gemini", "gemma": "gemini", "imagen": "gemini", "veo": "gemini", "palm": "gemini",
		"grok": "xai", "mistral": "mistral", "mixtral": "mistral", "codestral": "mistral", "ministral": "mistral", "magistral": "mistral",
		"pixtral": "mistral", "devstral": "mistral", "llama": "meta", "qwen": "qwen", "deepseek": "deepseek", "kimi": "moonshot",
		"glm": "zai", "command": "cohere", "phi": "microsoft", "nova": "amazon", "titan": "amazon", "sonar": "perplexity", "yi": "01-ai", "jamba": "ai21",
		"minimax": "minimax", "nemotron": "nvidia", "hermes": "nous", "wizardlm": "microsoft", "solar": "upstage",
	}

	// vendors are the providers a user may name that this model counts as
	// major; the value is the family their "newest" is looked for in.
	vendors = map[string]string{
		"openai": "gpt", "anthropic": "claude", "gemini": "gemini", "google": "gemini", "vertex": "gemini", "vertexai": "gemini",
		"xai": "grok", "mistral": "mistral", "deepseek": "deepseek", "meta": "llama", "cohere": "command", "moonshot": "kimi",
		"zai": "glm", "qwen": "qwen", "minimax": "minimax", "perplexity": "sonar",
	}

	// sameProvider lists other names of a provider, tried in this order.
	sameProvider = map[string][]string{
		"gemini": {"google", "vertexai", "vertex"}, "google": {"gemini", "vertexai", "vertex"},
		"xai": {"x-ai", "grok"}, "meta": {"llama"}, "moonshot": {"kimi", "moonshotai"}, "zai": {"zhipu", "z-ai"},
		"mistral": {"mistralai"}, "qwen": {"alibaba", "dashscope"},
	}

	// notChat marks models that "newest" passes over unless they are named:
	// a newer speech or picture model is not a newer model of its family.
	notChat = set("embedding embed tts audio realtime transcribe image moderation whisper dall sora search instruct guard vision imagen veo rerank")

	// traits are what a name does not tell: prices, skills, ranks. Nothing can be
	// looked for by them.
	traits = set("cheap cheaper cheapest expensive price prices priced pricing cost costs costly fast faster fastest slow slower slowest smart smarter smartest best better worst good bad " +
		"powerful strong strongest weak recommended popular free paid large larger largest small smaller smallest big biggest useless unused")

	// sorts are words that say of what kind a model is. A rule for one of them
	// makes sense even when no model of today has it in its name.
	sorts = set("preview beta alpha experimental exp nightly dev test snapshot latest mini nano micro lite flash pro max plus ultra turbo haiku opus sonnet coder codex code " +
		"instruct chat base thinking reasoning vision audio tts speech whisper voice realtime transcribe transcription image dall-e video embedding embed moderation search " +
		"guard rerank ocr legacy deprecated math medium small large")

	// shortForms are what ids write for a word of the user.
	shortForms = map[string][]string{
		"experimental": {"experimental", "exp"}, "embedding": {"embedding", "embed"}, "vision": {"vision", "vl"},
		"beta": {"beta"}, "transcription": {"transcri"}, "images": {"image"}, "speech": {"speech", "tts"},
	}
)
