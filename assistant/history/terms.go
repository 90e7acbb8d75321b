package history

import (
	"winnow/assistant/filter"
)

// column returns the test of a term that asks about one column.
func (f *search) column(x filter.Expr) func(b *block, i int) bool {
	switch x := x.(type) {
	case filter.Stars, filter.Flag, filter.Failed, filter.Attachments:
		passes := f.judgeBits(x)
		return func(b *block, i int) bool { return passes[b.bits[i]&^(sendsBit|cutBit)] }
	case filter.Topic, filter.TopicSelected:
		passes := f.judgeTopics(x, false)
		return func(b *block, i int) bool { return passes[b.topic[i]] }
	case filter.Model, filter.ModelSelected:
		passes := f.judge(x, f.snap.names.models, func(p *filter.Pair, v string) { p.Model = v })
		return func(b *block, i int) bool { return passes[b.model[i]] }
	case filter.Session, filter.SessionCurrent:
		passes := f.judge(x, f.snap.names.sessions, func(p *filter.Pair, v string) { p.Session = v })
		return func(b *block, i int) bool { return passes[b.session[i]] }
	case filter.Age, filter.Day:
		return f.judgeTimes(x)
	default:
	}
	return func(*block, int) bool { return false } // a saved filter, which Expand has replaced
}

// judge tells which values pass a term that asks about one field.
func (f *search) judge(x filter.Expr, values []string, set func(*filter.Pair, string)) []bool {
	examples := make([]filter.Pair, len(values))
	for i, v := range values {
		set(&examples[i], v)
	}
	passes := make([]bool, len(values))
	for _, i := range filter.EvalExpr(x, examples, f.env.Env) {
		passes[i] = true
	}
	return passes
}

// judgeTopics tells which topics, by number, pass. alone judges each as if it
// were the only one, for terms that count from the end.
func (f *search) judgeTopics(x filter.Expr, alone bool) map[uint32]bool {
	if last, ok := x.(filter.TopicLast); ok {
		last.N = 1
		x = last
	}
	var numbers []uint32
	var paths []string
	for n, path := range f.snap.names.topics {
		numbers, paths = append(numbers, uint32(n)), append(paths, path)
	}
	setTopic := func(p *filter.Pair, v string) { p.Topic = v }
	passes := map[uint32]bool{}
	if alone {
		for i, n := range numbers {
			passes[n] = f.judge(x, paths[i:i+1], setTopic)[0]
		}
		return passes
	}
	for i, ok := range f.judge(x, paths, setTopic) {
		passes[numbers[i]] = ok
	}
	return passes
}

// bitValues is how many values traits has without those that no term asks about.
const bitValues = 1 << 6

func (f *search) judgeBits(x filter.Expr) [bitValues]bool {
	var examples [bitValues]filter.Pair
	for v := range traits(bitValues) {
		examples[v] = filter.Pair{
			Star: int(v & starBits), Flag: v&flagBit != 0, HasAttachments: v&attachBit != 0,
			IsError: (v>>stateShift)&3 == stateError,
		}
	}
	var passes [bitValues]bool
	for _, i := range filter.EvalExpr(x, examples[:], f.env.Env) {
		passes[i] = true
	}
	return passes
}

// judgeTimes judges the times of a block at a time, each at most once.
func (f *search) judgeTimes(x filter.Expr) func(b *block, i int) bool {
	var of *block
	var examples []filter.Pair
	var passes []bool
	return func(b *block, i int) bool {
		if b == of {
			return passes[i]
		}
		of = b
		examples = append(examples[:0], make([]filter.Pair, b.len())...)
		passes = append(passes[:0], make([]bool, b.len())...)
		for i := range examples {
			examples[i].CreatedAt = instant(b.sec[i], int64(b.nsec[i]), 0)
		}
		for _, i := range filter.EvalExpr(x, examples, f.env.Env) {
			passes[i] = true
		}
		return passes[i]
	}
}
