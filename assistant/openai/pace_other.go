//go:build !linux

package openai

import "errors"

// setLowWater works only on Linux. Because it fails, readQuiet is never called.
func setLowWater(uintptr, int) error { return errors.ErrUnsupported }

func read(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
