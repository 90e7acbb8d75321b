package api

// fields describe the fields of types that other packages document for Go, by schema;
// under "" the fields that mean the same in all schemas.
var fields = map[string]map[string]string{
	"": {
		"answer_id":         "unique among the answers of the pair; not there for the first one",
		"assistant_text":    "the text of all responses of the turn, with a [[tool:N]] marker where the result of call N belongs",
		"error_code":        "names the failure; empty without one",
		"error_message":     "the failure, for people; empty without one",
		"index":             "counts the calls of the turn from 0; the N of the marker [[tool:N]]",
		"invalid_rounds":    "how many rounds of invalid tool calls the turn ended with",
		"label":             "what the user sees",
		"model":             "PROVIDER/NAME",
		"notice":            "what winnow reports about the turn",
		"page":              "the page of the window that was open",
		"path":              "of the file",
		"payloads":          "structured data of the answer, such as proposals",
		"provider":          "its name",
		"reasoning":         "the model's thinking",
		"reasoning_for":     "how long the model thought, in ns",
		"session":           "the id of the session; empty outside of sessions",
		"state":             "idle, sending, complete or error",
		"suggested":         "what the assistant offers for the next step",
		"suggested_actions": "buttons of the answer",
		"suggested_values":  "messages that the user can choose to send next",
		"thoughts":          "the blocks of reasoning; not there when all of it came before the text",
		"tool":              "its name",
		"tool_calls":        "the calls of the turn, in order",
		"tool_use_id":       "the id of the call, as the model gave it",
		"took":              "how long it took, in ns",
		"usage":             "tokens, summed over the responses of the turn",
	},
	"Attachment": {
		"name": "as the user wrote it", "type": "MIME type", "size": "bytes",
		"hash": "SHA-256 of a picture, in hexadecimal", "width": "of a picture, in pixels", "height": "of a picture, in pixels",
		"data": "of a picture",
	},
	"Author":    {"user": "their name", "assistant": "the user's assistant made it"},
	"Cancelled": {"kept": "the pair stays: a tool had run, or it has an older answer"},
	"Change":    {"title": "what has changed", "before": "its value in words; empty without one", "after": "its value in words; empty without one", "by": "who made it; not there when that is unknown"},
	"Checkpoint": {
		"id": "unique in the journal", "seq": "orders checkpoints; time does not", "time": "when it was made", "kind": "of the step after it",
		"description": "the step, in a line", "tools": "the calls that changed the window", "position": "the seq of the pair whose turn it is; a rollback cuts it and later ones",
		"full": "the whole state is stored here", "undone": "a rollback went back to here",
	},
	"CheckpointCreated": {"id": "of the checkpoint", "description": "the step, in a line"},
	"Complete":          {"payload": "the whole answer"},
	"ConfirmRequest": {
		"id": "for the path of the answer", "tool": "what asks", "diff": "what it would change", "digest": "names what it would do", "note": "a sentence to show with it: who changed what was shown before",
	},
	"Conflict": {
		"missing": "the file was removed", "busy": "another program has it open for writing", "theirs": "what the other program changed",
		"both": "unsaved changes of what it changed as well; without them the two can be merged", "kept": "where its file is, when the save moved it aside",
	},
	"ContextTrimmed": {
		"sent": "pairs still in the request", "trimmed": "pairs left out so far", "visible": "pairs of the view", "attempt": "1 is the first request",
		"tokens": "of the pairs left out, estimated", "pairs": "left out so far, oldest first",
	},
	"CustomPayload": {"type": "tool_history", "data": "an entry for each call"},
	"Effect":        {"kind": "what becomes of the items", "sentence": "what happens", "items": "all that it happens to"},
	"Error":         {"code": "names the failure, as in overflow, quota or interrupted", "message": "for people"},
	"FileDiff":      {"creates": "there is no file yet", "lines": "what changes, with secrets masked"},
	"FileLine":      {"kind": "- removed, + added", "line": "from 1: in the old file when removed, in the new one when added", "text": "with secrets masked"},
	"Holder":        {"user": "their name", "since": "when the turn began to change it", "doing": "the tool that the turn called first"},
	"LeftOut":       {"seq": "of the pair", "id": "of the pair", "tokens": "estimated"},
	"PairInfo": {
		"id": "of the pair, also after an export", "author": "who sent it; not there for the user of this history", "topic": "a path, as in AI > Agents; empty is the root",
		"user_text": "the message", "star": "0 to 3", "flag": "true is blue", "created_at": "when the message was sent", "attachments": "files that go with the message",
		"variants": "the other answers, oldest first", "chosen": "how many of them are older than this one", "answered_at": "when this answer was asked for; not there: with the message",
	},
	"Payload": {
		"id": "for the path of its decision", "type": "its kind", "data": "as its kind defines", "summary": "a line about the data", "decision": "accepted or rejected; not there before",
	},
	"PayloadFound":    {"payload": "what the model wrote into its text; no text_delta has it"},
	"Queued":          {"text": "the message that waits"},
	"ReasoningDelta":  {"text": "a piece of the model's thinking"},
	"ResponsePayload": {"message": "the answer with its [[tool:N]] markers", "custom_payload": "what the tools did"},
	"Retrying":        {"attempt": "which it is", "reason": "why, for people", "code": "invalid_tool_calls, or not there for a request", "after_ms": "milliseconds until the next attempt"},
	"SavePlan": {
		"digest": "names the plan by what it would write", "changes": "what differs from what is saved", "effects": "what else it does",
		"files": "that a save writes", "conflict": "what another program changed in the files; null without that",
	},
	"Saved": {
		"written": "false: there was nothing to write", "changes": "what was saved", "message": "what was saved and what applies it",
		"warning": "what failed after the file was written",
	},
	"Status":           {"message": "what the turn does before its next text"},
	"SuggestedAction":  {"action": "its name", "handler": "client runs in the program, server goes back to the session", "data": "of the action", "style": "primary, secondary or warning"},
	"SuggestedValue":   {"value": "the message"},
	"TextDelta":        {"text": "a piece of the answer, or the [[tool:N]] marker that follows a tool_complete"},
	"Thought":          {"from": "offset in the reasoning, in bytes; it ends where the next one begins", "place": "offset in the answer, in bytes, of the text that followed it"},
	"ToolCall":         {"id": "as the model gave it", "name": "of the tool", "arguments": "as the model wrote them", "result": "not there when it did not run", "response": "counts the responses of the turn from 0", "silent": "it was invalid: users see no card"},
	"ToolComplete":     {"success": "it did what it should", "message": "what it did", "data": "its result", "payload": "what it shows as a card"},
	"ToolHistoryEntry": {"tool_name": "of the tool", "input": "the arguments", "output": "what it did", "success": "it did what it should"},
	"ToolProgress":     {"stage": "what it does now, in a word", "message": "the same, for people", "progress": "0 to 1", "data": "of the tool"},
	"ToolResult":       {"success": "it did what it should", "message": "what it did", "data": "its result", "hint": "what to do about a failure", "payload": "what it shows as a card"},
	"ToolStart":        {"input": "the arguments"},
	"ToolSummary":      {"name": "of the tool", "args": "a JSON object, or any text", "effect": "what it did", "ok": "it succeeded", "lasting": "a rollback does not take it back: a file was written"},
	"TurnStarted":      {"seq": "of the pair"},
	"Usage":            {"Prompt": "tokens of the requests", "Completion": "tokens of the responses", "Reasoning": "of them for thinking", "Cached": "tokens of the requests that came from a cache"},
	"Variant":          {"id": "unique among the answers of the pair; not there for the first one", "at": "when it was asked for; not there: with the message"},
	"WindowChanged":    {"kind": "what happened", "time": "when", "user": "whose it is; empty is outside of sessions", "what": "what was done", "effect": "on what the window shows; not there when that is unknown"},
}

// fieldText is the description of a field of a schema.
func fieldText(schema, field string) string {
	if text, ok := fields[schema][field]; ok {
		return text
	}
	return fields[""][field]
}
