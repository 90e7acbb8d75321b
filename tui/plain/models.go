package plain

import (
	"fmt"
	"strconv"
	"strings"
)

// modelsRead is how many models are read at once; a TEXT finds the others.
const modelsRead = 30

// listModels reads the models that can be chosen and numbers them.
func (c *console) listModels(args string) {
	c.models = nil
	want := strings.ToLower(args)
	for _, m := range c.s.Registry().Models() {
		if !m.NoChat && strings.Contains(strings.ToLower(m.ID), want) {
			c.models = append(c.models, m.ID)
		}
	}
	if len(c.models) == 0 {
		c.out.line("No model is known by that name. /model PROVIDER/NAME chooses one that is not listed.")
		return
	}
	c.out.line("Models, /model and the number chooses:")
	for i, id := range c.models[:min(len(c.models), modelsRead)] {
		said := fmt.Sprintf("  %d %s", i+1, shown(id))
		if id == c.s.Model() {
			said += ", chosen"
		}
		c.out.line(said)
	}
	if more := len(c.models) - modelsRead; more > 0 {
		c.out.line(fmt.Sprintf("%d more; /models TEXT finds those with TEXT in their name.", more))
	}
}

// chooseModel takes a number of the last list, or a name.
func (c *console) chooseModel(args string) {
	id := args
	if n, err := strconv.Atoi(args); err == nil {
		if n < 1 || n > len(c.models) {
			c.out.line("There is no model of that number; /models lists and numbers them.")
			return
		}
		id = c.models[n-1]
	}
	if id == "" {
		c.out.line(c.modelWords() + ".")
		return
	}
	if err := c.s.SetModel(id); err != nil {
		c.fail(err)
		return
	}
	c.out.line(c.modelWords() + " from the next message on.")
	c.tell()
}
