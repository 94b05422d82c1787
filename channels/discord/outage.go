package discord

import (
	"errors"
	"net"
	"strconv"

	"github.com/gorilla/websocket"
)

// causeOf names the cause of an error without what differs from one time to the
// next, such as a port or a wait.
func causeOf(err error) string {
	var api *apiError
	var op *net.OpError
	var ce *websocket.CloseError
	switch {
	case errors.As(err, &api):
		return "status " + strconv.Itoa(api.status) + " " + strconv.Itoa(api.code)
	case errors.As(err, &ce):
		return "close code " + strconv.Itoa(ce.Code)
	case errors.As(err, &op) && op.Err != nil:
		return op.Op + " " + op.Err.Error()
	}
	return err.Error()
}
