package slack

import (
	"errors"
	"net"
	"strconv"

	"github.com/slack-go/slack"

	"approver.example"
)

// causeOf names the cause of an error without its variable parts, such as a port or a wait.
func causeOf(err error) string {
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok {
		return "status " + strconv.Itoa(e.Code)
	}
	if _, ok := errors.AsType[approver.Patience](err); ok {
		return "rate limit"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + " " + op.Err.Error()
	}
	return err.Error()
}
