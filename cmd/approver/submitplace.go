package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// submitPlace is where users of this machine ask, and who must listen there: the socket
// that was named, else the one that root pinned for couriers, else the configured one. On
// an isolated machine the configuration is not for those who ask; without a pin they ask
// at the usual place.
func submitPlace(config, named string) (httpapi.SubmitClient, error) {
	if named != "" {
		return httpapi.SubmitClient{Socket: named}, nil
	}
	if config == "" {
		pin, pinned, err := socketpath.ReadPin(socketpath.PinFile, 0)
		if err != nil || pinned {
			return pinnedTo(pin), err
		}
	}
	cfg, err := configs.LoadOrDefault(config)
	if config != "" || !errors.Is(err, fs.ErrPermission) {
		return httpapi.SubmitClient{Socket: cfg.Sockets.Submit}, err
	}
	home, _ := os.UserHomeDir() // Dir tells what is missing
	dir, err := socketpath.Dir(home)
	return httpapi.SubmitClient{Socket: filepath.Join(dir, socketpath.Submit)}, err
}

// pinnedTo trusts the uid that root pinned and nobody else, as couriers do.
func pinnedTo(pin socketpath.Pin) httpapi.SubmitClient {
	return httpapi.SubmitClient{Socket: pin.Socket, Trust: func(uid uint32) error {
		if uid != pin.UID {
			return fmt.Errorf("the listener on %s runs as uid %d, and %s pins uid %d", pin.Socket, uid, socketpath.PinFile, pin.UID)
		}
		return nil
	}}
}
