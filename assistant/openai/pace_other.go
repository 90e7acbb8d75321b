//go:build !linux

package openai

import "errors"

// setLowWater is for Linux only: without it, read is never called.
func setLowWater(uintptr, int) error { return errors.ErrUnsupported }

func read(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
