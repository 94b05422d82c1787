package discord

import (
	"errors"
	"net"
	"strconv"

	"github.com/gorilla/websocket"
)

// causeOf names the cause of an error without its variable parts, such as a port or a wait.
func causeOf(err error) string {
	if api, ok := errors.AsType[*apiError](err); ok {
		return "status " + strconv.Itoa(api.status) + " " + strconv.Itoa(api.code)
	}
	if ce, ok := errors.AsType[*websocket.CloseError](err); ok {
		return "close code " + strconv.Itoa(ce.Code)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + " " + op.Err.Error()
	}
	return err.Error()
}
