package assistant

// wireMessages turns a list into what goes over the wire: calls of one response
// become one assistant message with its calls and then their tool messages.
func wireMessages(messages []Message) []WireMessage {
	var out []WireMessage
	for i := 0; i < len(messages); i++ {
		switch m := messages[i].(type) {
		case *AgentMessage:
			out = append(out, WireMessage{Role: RoleSystem, Content: m.Text})
		case *TextMessage:
			if m.Text == "" {
				continue // an empty answer; endpoints refuse it
			}
			out = append(out, WireMessage{Role: m.Role, Content: m.Text})
		case *ToolCallMessage:
			group := responseAt(messages, i)
			out = append(out, wireExchange(group)...)
			i += len(group) - 1
		}
	}
	return out
}

// responseAt returns the calls of the response that begins at i.
func responseAt(messages []Message, i int) []*ToolCallMessage {
	group := []*ToolCallMessage{messages[i].(*ToolCallMessage)}
	for _, m := range messages[i+1:] {
		call, ok := m.(*ToolCallMessage)
		if !ok || !call.joined {
			break
		}
		group = append(group, call)
	}
	return group
}

func wireExchange(group []*ToolCallMessage) []WireMessage {
	head := WireMessage{Role: RoleAssistant, Content: group[0].Message}
	results := make([]WireMessage, len(group))
	for i, m := range group {
		args := string(m.Arguments)
		if args == "" {
			args = "{}" // what endpoints want for none
		}
		head.Calls = append(head.Calls, Call{ID: m.ToolCallID, Name: m.ToolName, Arguments: args})
		results[i] = WireMessage{Role: RoleTool, CallID: m.ToolCallID, Content: resultContent(m)}
	}
	return append([]WireMessage{head}, results...)
}
