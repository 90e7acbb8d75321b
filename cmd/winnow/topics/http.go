package topics

import (
	"fmt"
	"strings"

	"winnow/assistant/serve/api"
)

// httpExample shows the first requests of a client: the API description, a session and a message.
var httpExample = []string{
	`winnow serve --http 127.0.0.1:7777 --token-file token`,
	`auth="Authorization: Bearer $(cat token)" url=http://127.0.0.1:7777`,
	`curl -s -H "$auth" $url/openapi.json`,
	`{"openapi":"3.1.0","paths":{"/v1/sessions":{"post":{"operationId":…`,
	`curl -s -H "$auth" --json '{}' $url/v1/sessions`,
	`{"id":"06h0…","user":"anna","model":"openai/gpt-5.1",…}`,
	`curl -sN -H "$auth" --json '{"text":"hi"}' $url/v1/sessions/06h0…/messages`,
	`id: 1795364231133`,
	`data: {"type":"turn_started","seq":1}`,
}

// problemExample is the response to a refused request.
var problemExample = []string{
	`{"type":"urn:winnow:no_session","title":"Not Found","status":404,`,
	` "detail":"there is no such session","code":"no_session"}`,
}

// overHTTP writes the page from the server's own operations and causes.
func overHTTP(p *page, _ Facts) {
	p.text("winnow serve --http lets programs open sessions, send messages and change what the window shows. GET /openapi.json describes every request, response and event (OpenAPI 3.1), so that a client can be generated.")
	p.code(httpExample)
	operations, err := api.Operations()
	if err != nil { // winnow serve would not start either
		p.text(err.Error())
		return
	}
	p.head("Requests")
	for _, o := range operations {
		p.lines = append(p.lines, strings.Repeat(" ", indent)+o.Method+" "+o.Path)
		p.lines = append(p.lines, wrapped(o.Summary+".", 3*indent)...)
	}
	p.text("The response to a message, a retry or an accepted proposal is a stream of server-sent events until the end of the turn; each event is a line of JSON, named by its type field. If the connection is lost, GET /v1/sessions/{id}/events with the header Last-Event-ID continues after the last event that the client received.")
	p.text("The screen has the same actions: r for retry, < and > for answers and choose, Accept and Reject for proposals. A save, a discard and a rollback must name what the user was shown: the digest of a plan, or the newest checkpoint. Clients send it in the body, or as If-Match with the ETag of the plan or of the list of checkpoints.")
	p.text("A POST with the header Idempotency-Key, a random value chosen by the client, can be repeated for 24 hours, even after a restart of the server: it is carried out once, and the same user gets the same response again. Of each user, the newest 1,000 of these responses are stored, or fewer if they exceed 4 MiB. A refused request can be repeated with its key. Every GET that returns JSON has an ETag; with If-None-Match, the response is 304 if nothing has changed.")
	p.text("A list returns up to limit entries, 100 by default, and next if there are more: repeated with after=NEXT, the request returns the next page. Each entry is returned once, even if other entries are added or removed in the meantime. The first page of messages and of checkpoints contains the newest entries.")
	p.head("Refusals")
	p.text("A refused request changes nothing; the response is a problem document (RFC 9457). Its code tells programs the cause:")
	p.code(problemExample)
	var rows [][]string
	for _, c := range api.Causes() {
		rows = append(rows, []string{fmt.Sprint(c.Status), c.Code, c.Meaning})
	}
	p.rows(rows)
	p.text("POST /v1/window/edit also returns 422 with the code of a failed tool. With the code invalid, errors lists the invalid fields with their location and the reason, never with their value.")
	p.head("Changes in this version")
	p.text("Query parameters that openapi.json does not list are refused (422 invalid), as are unknown fields in a body. The detail texts of the code invalid have changed, and errors lists them by field. All lists have pages, with limit, after and next; after replaces before in the list of pairs. The response to a new session has a Location header. The plan of a save is GET /v1/window/plan?session=ID. An empty limit, after or text counts as not given.")
}

// code adds lines without wrapping them.
func (p *page) code(lines []string) {
	p.gap()
	for _, line := range lines {
		p.lines = append(p.lines, strings.Repeat(" ", indent)+line)
	}
}
