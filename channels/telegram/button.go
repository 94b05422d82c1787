package telegram

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"approver.example"
)

// An action is what a button asks for. The zero value is none.
type action byte

const (
	approveOnce action = 'o'
	deny        action = 'd'
	details     action = 'i'
)

// dataPrefix starts the data of every button of ours, with the version of its
// form: "a1:" + the request's UUID as 22 characters of base64url + ":" + action and, for
// a yes to several calls, "+" and how many this version of the card counts. That is at
// most 34 of the 64 bytes that Telegram allows. A no has one form for all versions.
const dataPrefix = "a1:"

var errData = errors.New("the button's data is not ours")

var encoding = base64.RawURLEncoding.Strict()

func encodeID(request string) (string, error) {
	id, err := uuid.Parse(request)
	if err != nil || id.String() != request {
		return "", fmt.Errorf("telegram: request id %q is not a UUID in its plain form", request)
	}
	return encoding.EncodeToString(id[:]), nil
}

func buttonData(id string, a action, upto int) string {
	data := dataPrefix + id + ":" + string(a)
	if a == approveOnce {
		data = approver.WithUpto(data, upto)
	}
	return data
}

// parseData reads a button's data. A client can send any data, so what comes
// out is a claim to be checked against the request that it names.
func parseData(data string) (request string, a action, upto int, err error) {
	rest, ours := strings.CutPrefix(data, dataPrefix)
	rest, upto, ok := approver.CutUpto(rest)
	if !ours || !ok || len(rest) != 22+2 || rest[22] != ':' {
		return "", 0, 0, errData
	}
	raw, err := encoding.DecodeString(rest[:22])
	if err != nil {
		return "", 0, 0, errData
	}
	id, err := uuid.FromBytes(raw)
	if err != nil {
		return "", 0, 0, errData
	}
	switch a = action(rest[23]); {
	case a == approveOnce, upto == 0 && (a == deny || a == details):
		return id.String(), a, upto, nil
	}
	return "", 0, 0, errData
}
