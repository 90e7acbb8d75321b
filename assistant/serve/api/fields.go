package api

// fields contains the descriptions of fields, by schema, for types of other packages, whose comments are written for Go
// programmers. The key "" maps to the fields that mean the same in all schemas.
var fields = map[string]map[string]string{
	"": {
		"answer_id":         "unique among the answers of the pair; absent for the first answer",
		"assistant_text":    "the text of all responses of the turn, with a [[tool:N]] marker where the result of call N belongs",
		"error_code":        "identifies the failure; empty if the answer did not fail",
		"error_message":     "describes the failure; empty if the answer did not fail",
		"index":             "the index of the call in the turn, from 0; the N of the marker [[tool:N]]",
		"invalid_rounds":    "how many responses in a row had invalid tool calls at the end of the turn",
		"label":             "the label that the user sees",
		"model":             "PROVIDER/NAME",
		"notice":            "a notice from winnow about the turn",
		"page":              "the page that was open in the window",
		"path":              "the path of the file",
		"payloads":          "structured data of the answer, such as proposals",
		"price":             "the price in US dollars, as known when the answer arrived; absent if unknown",
		"provider":          "the name of the provider",
		"reasoning":         "the model's thinking",
		"reasoning_for":     "the time that the model spent on reasoning, in ns",
		"session":           "the id of the session; empty if no session was involved",
		"state":             "idle, sending, complete, error or partial; partial is a cancelled answer that was kept",
		"suggested":         "what the assistant suggests as the next step",
		"suggested_actions": "buttons of the answer",
		"suggested_values":  "messages that the user can choose to send next",
		"thoughts":          "the blocks of reasoning; absent if all reasoning came before the text",
		"tool":              "the name of the tool",
		"tool_calls":        "the calls of the turn, in order",
		"tool_use_id":       "the id of the call, as chosen by the model",
		"took":              "the duration in ns",
		"usage":             "the total tokens of all responses of the turn",
	},
	"Applied": {
		"state": "running; live: the saved state is in use; differs: another state is in use; unanswered: the program does not answer; failed; cancelled; unknown: winnow ended before the result was known", "message": "the state, as a sentence",
		"began": "when the save was made", "ended": "when the result was known; absent while the state is running",
	},
	"Attachment": {
		"name": "the name as the user wrote it", "type": "the MIME type", "size": "the size in bytes",
		"hash": "the SHA-256 hash of a picture, in hexadecimal", "width": "the width of a picture, in pixels", "height": "the height of a picture, in pixels",
		"data": "the data of a picture",
	},
	"Author":    {"user": "the name of the user", "assistant": "true if the user's assistant made the change, false if the user did"},
	"Cancelled": {"kept": "true if the pair is kept, because a tool had run or because the pair has an older answer"},
	"Change":    {"sentence": "what was done, as a sentence", "title": "what has changed", "before": "the old value in words; empty if there was none", "after": "the new value in words; empty if there is none", "by": "who made the change; absent if unknown"},
	"Checkpoint": {
		"id": "unique in the journal", "seq": "the checkpoints are ordered by this number, not by their times", "time": "when the checkpoint was created", "kind": "the kind of the step after the checkpoint",
		"description": "the step, in one line", "tools": "the calls that changed the window", "position": "the seq of the pair that the turn added; a rollback removes this and later pairs from the conversation",
		"full": "true if the checkpoint stores the whole state", "undone": "true if the step was rolled back",
	},
	"CheckpointCreated": {"id": "the id of the checkpoint", "description": "the step, in one line"},
	"Complete":          {"payload": "the whole answer"},
	"ConfirmRequest": {
		"id": "the id of the question, for the path of the request that answers it", "tool": "the tool that asks", "diff": "what the tool would do, in lines to show unchanged: hidden characters are shown as their numbers", "digest": "identifies what the tool would do", "note": "why the question is asked again: a sentence that says who has changed what the tool would do; absent the first time",
		"server": "the MCP server that would carry out the call; absent for a tool of the window",
	},
	"Conflict": {
		"missing": "true if the file was removed", "busy": "true if another program has the file open for writing", "theirs": "what the other program changed",
		"both": "unsaved changes to values that the other program changed as well; if empty, the changes can be merged", "kept": "the path of the other program's file, if the save moved it aside",
	},
	"ContextTrimmed": {
		"sent": "the number of pairs in the request", "trimmed": "the number of pairs omitted so far", "visible": "the number of pairs in the view", "attempt": "the number of the request, from 1",
		"tokens": "the estimated tokens of the omitted pairs", "pairs": "the pairs omitted so far, oldest first",
	},
	"CustomPayload": {"type": "always tool_history", "data": "an entry for each call"},
	"Effect":        {"kind": "what happens to the items", "sentence": "what happens, as a sentence", "items": "all affected items, the marked ones first", "marked": "how many of the items are marked, such as models in use"},
	"Error":         {"code": "identifies the failure, for example overflow, quota or interrupted", "message": "describes the failure"},
	"FileDiff":      {"creates": "true if the file does not exist yet", "lines": "what changes, with secrets masked"},
	"FileLine":      {"kind": "- for a removed line, + for an added line", "line": "the line number from 1, in the old file if removed and in the new file if added", "text": "the text, with secrets masked and hidden characters shown as their numbers"},
	"Holder":        {"user": "the name of the user", "since": "when the turn began to change the window", "doing": "the first write tool of the turn"},
	"LeftOut":       {"seq": "the seq of the pair", "id": "the id of the pair", "tokens": "the estimated tokens of the pair"},
	"PairInfo": {
		"id": "the id of the pair; an export keeps it", "author": "who sent the message; absent for the user of this history", "topic": "a path, for example AI > Agents; empty for the root",
		"user_text": "the message", "star": "the rating, 0 to 3", "flag": "the colour of the flag; true means blue", "created_at": "when the message was sent", "attachments": "files that are sent with the message",
		"answer_to": "for a cancelled answer: the seq of the message that was being answered again; absent for an answer to a new message",
		"variants":  "the other answers, oldest first", "chosen": "how many variants are older than this answer", "answered_at": "when this answer was requested; absent for the answer to the original request",
	},
	"Payload": {
		"id": "the id of the payload, for the path of the request that decides it", "type": "the type of the payload", "data": "the data, as defined by the type", "summary": "the data, in one line", "decision": "accepted or rejected; absent if not decided yet",
	},
	"PayloadFound":    {"payload": "a payload that the model wrote in its text; it is not part of any text_delta"},
	"Queued":          {"text": "the queued message"},
	"ReasoningDelta":  {"text": "a piece of the model's thinking"},
	"ResponsePayload": {"message": "the answer with its [[tool:N]] markers", "custom_payload": "what the tools did"},
	"Retrying":        {"attempt": "the number of the attempt", "reason": "the reason for the retry", "code": "invalid_tool_calls if the model repeats invalid tool calls; absent if a failed request is repeated", "after_ms": "milliseconds until the next attempt"},
	"SavePlan": {
		"digest": "identifies what the plan would write", "changes": "the unsaved changes", "effects": "what else the save does",
		"files": "the files that the save writes", "conflict": "what another program changed in the files; null if it changed nothing",
	},
	"Saved": {
		"written": "false if there was nothing to write", "changes": "the saved changes", "message": "what was saved and what is needed to apply it",
		"warning": "what failed after the file was written", "applied": "how far applying the save has got; absent if the user has to apply it",
	},
	"Status":           {"message": "what the turn is doing until its next text arrives"},
	"SuggestedAction":  {"action": "the name of the action", "handler": "client: the client runs the action; server: the client sends the action to the session", "data": "the data of the action", "style": "primary, secondary or warning"},
	"SuggestedValue":   {"value": "the message to send"},
	"TextDelta":        {"text": "a piece of the answer, or the [[tool:N]] marker that follows a tool_complete"},
	"Thought":          {"from": "the offset in the reasoning, in bytes; the block ends where the next block begins", "place": "the offset in the answer, in bytes, of the text after the block"},
	"ToolCall":         {"id": "the id, as chosen by the model", "name": "the name of the tool", "arguments": "the arguments, as the model wrote them", "result": "the result; absent if the tool did not run", "response": "the index of the response in the turn, from 0", "silent": "true for an invalid call, which is not shown to users"},
	"ToolComplete":     {"success": "true if the tool succeeded", "message": "what the tool did", "data": "the result of the tool", "payload": "the card that shows the result"},
	"ToolHistoryEntry": {"tool_name": "the name of the tool", "input": "the arguments", "output": "what the tool did", "success": "true if the tool succeeded"},
	"ToolProgress":     {"stage": "the current stage, as one word", "message": "the current stage, as a sentence", "progress": "the progress, from 0 to 1", "data": "data from the tool"},
	"ToolResult":       {"success": "true if the tool succeeded", "message": "what the tool did", "data": "the result of the tool", "hint": "what to do about a failure", "payload": "the card that shows the result"},
	"ToolStart":        {"input": "the arguments"},
	"ToolSummary":      {"name": "the name of the tool", "args": "a JSON object, or any text", "effect": "what the tool did", "ok": "true if the tool succeeded", "lasting": "true if a rollback cannot undo the call, because a file was written"},
	"TurnStarted":      {"seq": "the seq of the pair"},
	"Usage":            {"Prompt": "tokens in the requests", "Completion": "tokens in the responses", "Reasoning": "the part of Completion that was spent on reasoning", "Cached": "the part of Prompt that came from a cache"},
	"Variant":          {"id": "unique among the answers of the pair; absent for the first answer", "at": "when the answer was requested; absent for the answer to the original request"},
	"WindowChanged":    {"kind": "what happened", "time": "when it happened", "user": "the user who made the change; empty if no session made it", "pair": "for proposed and decided: the seq of the pair with the proposals", "what": "what was done", "effect": "the effect on what the window shows; absent if unknown"},
}

// fieldText returns the description of a field of a schema, or "" if there is none.
func fieldText(schema, field string) string {
	if text, ok := fields[schema][field]; ok {
		return text
	}
	return fields[""][field]
}
