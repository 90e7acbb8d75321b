package modelfilter

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/budget"
)

// round is the calls of one response: "tool {arguments}".
type round []string

// tasks are ten requests with the calls that do them: with the tools and the context of
// before (14 tools, facts only model by model), by a capable model now, and by a poor one,
// which looks before each change and makes one call at a time.
var tasks = []struct {
	request               string
	before, capable, poor []round
	rules                 string // the ignore rules of openai afterwards
}{
	{
		"hide all o1 models",
		[]round{{`get_models_matching_pattern {"pattern":"o1*"}`}, {`add_ignore_rule {"pattern":"o1*"}`}},
		[]round{{`add_ignore_rule {"pattern":"o1*"}`}},
		[]round{{`get_models_matching_pattern {"pattern":"o1*"}`}, {`add_ignore_rule {"pattern":"o1*"}`}},
		"*-preview gpt-3.5* o1*",
	}, {
		"why is gpt-3.5-turbo hidden?",
		[]round{{`explain_model_status {"model":"gpt-3.5-turbo"}`}},
		nil,
		[]round{{`explain_model_status {"model":"gpt-3.5-turbo"}`}},
		"*-preview gpt-3.5*",
	}, {
		"which models are hidden?",
		[]round{{`get_models_matching_pattern {"pattern":"*","provider":"*"}`}, {`get_models_matching_pattern {"pattern":"*","provider":"openai"}`}},
		[]round{{`find_models {"where":"hidden"}`}},
		[]round{{`find_models {"where":"hidden"}`}},
		"*-preview gpt-3.5*",
	}, {
		"which models cost more than $10?",
		[]round{
			{`get_models_matching_pattern {"pattern":"*","provider":"gemini"}`, `get_models_matching_pattern {"pattern":"*"}`},
			{`get_model_details {"model":"gpt-4"}`, `get_model_details {"model":"gpt-4-turbo"}`, `get_model_details {"model":"gpt-4o"}`, `get_model_details {"model":"o1"}`},
		},
		[]round{{`find_models {"where":"price>10"}`}},
		[]round{{`find_models {"where":"price>10"}`}},
		"*-preview gpt-3.5*",
	}, {
		"hide what costs more than $20 on openai",
		[]round{
			{`get_models_matching_pattern {"pattern":"*"}`},
			{`get_model_details {"model":"gpt-4"}`, `get_model_details {"model":"gpt-4-turbo"}`, `get_model_details {"model":"gpt-4o"}`, `get_model_details {"model":"o1"}`},
			{`add_ignore_rule {"pattern":"gpt-4"}`, `add_ignore_rule {"pattern":"gpt-4-turbo"}`, `add_ignore_rule {"pattern":"o1"}`},
		},
		[]round{
			{`find_models {"where":"price>20 shown","provider":"openai"}`},
			{`add_ignore_rule {"pattern":"gpt-4"}`, `add_ignore_rule {"pattern":"gpt-4-turbo"}`, `add_ignore_rule {"pattern":"o1"}`},
		},
		[]round{
			{`find_models {"where":"price>20 shown","provider":"openai"}`},
			{`add_ignore_rule {"pattern":"gpt-4"}`},
			{`add_ignore_rule {"pattern":"gpt-4-turbo"}`},
			{`add_ignore_rule {"pattern":"o1"}`},
		},
		"*-preview gpt-3.5* gpt-4 gpt-4-turbo o1",
	}, {
		"show the rules of all providers",
		[]round{{`get_models_matching_pattern {"pattern":"*","provider":"*"}`}, {`get_models_matching_pattern {"pattern":"*","provider":"openai"}`, `get_models_matching_pattern {"pattern":"*","provider":"gemini"}`}},
		[]round{{`list_rules {}`}},
		[]round{{`list_rules {}`}},
		"*-preview gpt-3.5*",
	}, {
		"unhide gpt-3.5",
		[]round{{`get_models_matching_pattern {"pattern":"gpt-3.5*"}`}, {`remove_ignore_rule {"pattern":"gpt-3.5*"}`}},
		[]round{{`remove_ignore_rule {"pattern":"gpt-3.5*"}`}},
		[]round{{`get_models_matching_pattern {"pattern":"gpt-3.5*"}`}, {`remove_ignore_rule {"pattern":"gpt-3.5*"}`}},
		"*-preview",
	}, {
		"only keep gpt-4o",
		[]round{{`get_models_matching_pattern {"pattern":"gpt-4o"}`}, {`add_whitelist_rule {"pattern":"gpt-4o"}`, `add_ignore_rule {"pattern":"*"}`}},
		[]round{{`add_whitelist_rule {"pattern":"gpt-4o"}`, `add_ignore_rule {"pattern":"*"}`}},
		[]round{{`add_whitelist_rule {"pattern":"gpt-4o"}`}, {`add_ignore_rule {"pattern":"*"}`}},
		"*-preview gpt-3.5* *",
	}, {
		"hide o1; no, take that back",
		[]round{{`add_ignore_rule {"pattern":"o1"}`}, {`get_models_matching_pattern {"pattern":"o1"}`}, {`remove_ignore_rule {"pattern":"o1"}`}},
		[]round{{`add_ignore_rule {"pattern":"o1"}`}, {`undo {}`}},
		[]round{{`add_ignore_rule {"pattern":"o1"}`}, {`remove_ignore_rule {"pattern":"o1"}`}},
		"*-preview gpt-3.5*",
	}, {
		"how many models does openai have?",
		[]round{{`get_model_details {}`}},
		nil,
		[]round{{`get_model_details {}`}},
		"*-preview gpt-3.5*",
	},
}

// TestRoundsOfTenTasks does ten tasks in three ways: each call succeeds, the rules are the
// same afterwards, and the rounds and calls are counted.
func TestRoundsOfTenTasks(t *testing.T) {
	rounds, calls, tokens := [3]int{}, [3]int{}, [3]int{}
	t.Logf("%-42s %-15s %s", "rounds, tokens of all requests:", "before", "capable, poor now")
	for _, task := range tasks {
		row := fmt.Sprintf("%-42s", task.request)
		for i, way := range [][]round{task.before, task.capable, task.poor} {
			f := fresh(t, plainEnv)
			var answers []assistanttest.Answer
			for _, r := range way {
				var a assistanttest.Answer
				for _, c := range r {
					name, args, _ := strings.Cut(c, " ")
					a = append(a, assistanttest.Call{Name: name, Arguments: args})
				}
				answers = append(answers, a)
			}
			script := assistanttest.NewScript(append(answers, assistanttest.Answer{assistanttest.Say("Done.")})...)
			events, _ := say(t, sessionWith(t, f, script), task.request)
			for _, e := range assistanttest.Only[assistant.ToolComplete](events) {
				if !e.Success {
					t.Errorf("%q, way %d: %s fails: %s", task.request, i, e.Tool, e.Message)
				}
				calls[i]++
			}
			sent := 0
			for _, r := range script.Requests() {
				for _, m := range r.Messages {
					sent += budget.Params{}.Estimate(m.Content)
				}
			}
			rounds[i], tokens[i] = rounds[i]+len(script.Requests())-1, tokens[i]+sent
			row += fmt.Sprintf(" %d, %-12d", len(script.Requests())-1, sent)
			if got := strings.Join(f.patterns(Ignore), " "); got != task.rules {
				t.Errorf("%q, way %d: the rules are %s, want %s", task.request, i, got, task.rules)
			}
		}
		t.Log(row)
	}
	t.Logf("%-42s %d, %d; %d, %d; %d, %d", "all", rounds[0], tokens[0], rounds[1], tokens[1], rounds[2], tokens[2])
	if 3*tokens[1] > 2*tokens[0] || tokens[2] > tokens[0] {
		t.Errorf("tokens %v: a capable model needs a third less than before, a poor one no more", tokens)
	}
	if wantRounds, wantCalls := [3]int{20, 10, 17}, [3]int{31, 13, 17}; rounds != wantRounds || calls != wantCalls {
		t.Errorf("rounds %v, calls %v; want %v and %v", rounds, calls, wantRounds, wantCalls)
	}
}
