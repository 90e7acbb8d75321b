package topics

import (
	"fmt"
	"strings"

	"winnow/assistant/serve/api"
)

// httpExample shows what a first client needs: the document, a session and a message.
var httpExample = []string{
	`winnow serve --http 127.0.0.1:7777 --token-file token`,
	`auth="Authorization: Bearer $(cat token)" url=http://127.0.0.1:7777`,
	`curl -s -H "$auth" $url/openapi.json`,
	`{"openapi":"3.1.0","paths":{"/v1/sessions":{"post":{"operationId":…`,
	`curl -s -H "$auth" --json '{"user":"anna"}' $url/v1/sessions`,
	`{"id":"06h0…","user":"anna","model":"openai/gpt-5.1",…}`,
	`curl -sN -H "$auth" --json '{"text":"hi"}' $url/v1/sessions/06h0…/messages`,
	`id: 1795364231133`,
	`data: {"type":"turn_started","seq":1}`,
}

// problemExample is the answer to a request that is refused.
var problemExample = []string{
	`{"type":"urn:winnow:no_session","title":"Not Found","status":404,`,
	` "detail":"there is no such session","code":"no_session"}`,
}

// overHTTP is generated from the operations and the causes of the server.
func overHTTP(p *page, _ Facts) {
	p.text("winnow serve --http lets programs open sessions, send messages and change what the window shows. GET /openapi.json describes every request, answer and event (OpenAPI 3.1): a program can make a client of it.")
	p.code(httpExample)
	operations, err := api.Operations()
	if err != nil { // the server of this program would not start either
		p.text(err.Error())
		return
	}
	p.head("Requests")
	for _, o := range operations {
		p.lines = append(p.lines, strings.Repeat(" ", indent)+o.Method+" "+o.Path)
		p.lines = append(p.lines, wrapped(o.Summary+".", 3*indent)...)
	}
	p.text("A message, a retry and an accepted proposal are answered with server-sent events up to the end of the turn; each event is a line of JSON whose type names it. If the connection is lost, GET /v1/sessions/{id}/events with the header Last-Event-ID continues after the last event that was read.")
	p.text("retry is r of the screen, answers and choose are < and > there, proposals are its Accept and Reject. A save, a discard and a rollback name what was shown: the digest of a plan, or the newest checkpoint.")
	p.head("Refusals")
	p.text("A request that is refused changes nothing and is answered with problem details (RFC 9457). Its code names the cause for programs:")
	p.code(problemExample)
	var rows [][]string
	for _, c := range api.Causes() {
		rows = append(rows, []string{fmt.Sprint(c.Status), c.Code, c.Means})
	}
	p.rows(rows)
	p.text("POST /v1/window/edit also answers 422 with the code of the tool that failed. With the code invalid, errors lists the wrong fields: their place and what is wrong, never their value.")
	p.head("What changed")
	p.text("Words in a query that openapi.json does not list are refused (422 invalid), as are unknown fields of a body. The details of invalid have other words, and errors lists them by field. A list of pairs has next, the answer to a new session has Location. An empty limit, before or text is like none.")
}

// code adds lines as they are.
func (p *page) code(lines []string) {
	p.gap()
	for _, line := range lines {
		p.lines = append(p.lines, strings.Repeat(" ", indent)+line)
	}
}
