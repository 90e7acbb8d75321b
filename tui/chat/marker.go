package chat

import (
	"fmt"
	"strings"
)

// cardMarker is the text delta that follows the end of call n.
func cardMarker(n int) string { return fmt.Sprintf("[[tool:%d]]", n) }

// unescape shows what the model wrote where the core kept it apart from a marker.
func unescape(text string) string { return strings.ReplaceAll(text, `\[[tool:`, "[[tool:") }
