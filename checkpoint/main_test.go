package checkpoint_test

import (
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

// TestMain is outside the package because assistanttest imports it.
func TestMain(m *testing.M) {
	checkpoint.RunChild()
	assistanttest.UseMemory()
	m.Run()
}
