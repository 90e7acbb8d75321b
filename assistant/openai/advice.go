package openai

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"winnow/assistant"
)

// The advice that several failures share.
const (
	checkBase = "is the base URL right?"
	tryAgain  = "try again in a moment"
)

// advice is what the user can do about what an endpoint said.
func (c *Client) advice(err *assistant.RequestError, f failure) string {
	switch err.Kind {
	case assistant.KindAuth:
		return c.keyAdvice(err.Status)
	case assistant.KindQuota:
		return quotaAdvice(err)
	case assistant.KindModel:
		return "choose another model"
	case assistant.KindNet:
		return tryAgain
	case assistant.KindUnknown:
		switch {
		case err.Status >= 500:
			return tryAgain
		case err.Status == http.StatusRequestEntityTooLarge:
			return "send less text"
		case f.page:
			return checkBase
		}
	case assistant.KindOverflow, assistant.KindInterrupted:
	}
	return ""
}

func (c *Client) keyAdvice(status int) string {
	switch {
	case !c.keyed:
		return "no API key is set for " + c.name
	case status == http.StatusForbidden:
		return "the API key of " + c.name + " may not use this: check it, or choose another model"
	}
	return "check the API key of " + c.name
}

// quotaAdvice tells when the quota that is used up is whole again, or that no
// waiting helps.
func quotaAdvice(err *assistant.RequestError) string {
	if noCredit(err) {
		return "add credit to the account, or choose another model"
	}
	if l := err.Limits; l != nil {
		pause := time.Duration(0)
		if l.RequestsLeft == 0 {
			pause = l.RequestsReset
		}
		if l.TokensLeft == 0 {
			pause = max(pause, l.TokensReset)
		}
		if pause > 0 {
			return "try again in " + span(pause)
		}
	}
	return tryAgain
}

// The lengths from which on a time is told in minutes and in hours: people
// think "90 s", but not "300 s".
const (
	fromMinutes = 2 * time.Minute
	fromHours   = 2 * time.Hour
)

// span says how long d is, rounded up: a pause that is told must be enough.
func span(d time.Duration) string {
	switch {
	case d < fromMinutes:
		return count(d, time.Second, "s")
	case d < fromHours:
		return count(d, time.Minute, "min")
	}
	return count(d, time.Hour, "h")
}

func count(d, unit time.Duration, name string) string {
	return strconv.Itoa(int(math.Ceil(float64(d)/float64(unit)))) + " " + name
}
