package topics

func mcpServers(p *page, _ Facts) {
	p.text("The assistant can use the tools of MCP servers, in addition to those of its window. The settings name the servers; winnow config edit opens them.")
	p.rows([][]string{
		{"[[mcp]]", "once for each server"},
		{"name = \"github\"", "letters, digits and -; the model calls a tool github__TOOL"},
		{"command = [\"PROGRAM\", \"ARGUMENT\"]", "a program that talks on standard input and output, or"},
		{"url = \"https://HOST/mcp\"", "an address for streamable HTTP; plain http to another machine needs allow_http = true"},
		{"env = { NAME = \"keyring:NAME\" }", "environment variables for the program; it receives none of your other keys"},
		{"headers = { Authorization = \"env:NAME\" }", "headers that are sent only to this address"},
		{"allowed_tools = [\"search\"]", "tools that run without asking"},
		{"timeout = \"90s\"", "time limit of a call; the default is one minute"},
	})
	p.head("When you are asked")
	p.text("Each call shows its arguments and asks before it runs, unless allowed_tools lists the tool or the setting confirm is \"never\". What a server claims about its tools, for example that they are read-only, is ignored. winnow ask --yes does not answer these questions. Checkpoints do not cover what a server does; the card of the call says that it cannot be undone here.")
	p.head("Starting and ending")
	p.text("Servers start in the background; a notice reports when their tools are available, or why not. A server that is slow or broken delays nothing, except that winnow ask waits up to 5 seconds. A call to a server that has ended starts it again. Esc ends a call at once. All servers end with the program.")
	p.head("What is left out")
	p.text("Hidden characters in descriptions and results are removed, names become valid for all providers, and results are cut at 32,000 characters. A tool is excluded if the schema of its parameters is too large, refers to itself or contains hidden characters. winnow tools test lists the excluded tools, and winnow tools list the offered ones.")
	p.head("Served sessions")
	p.text("winnow serve connects once, with its own settings, for all sessions; each call asks the user whose session it is. Users cannot add servers, and winnow mcp does not pass these tools on.")
}
