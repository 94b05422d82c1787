package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"approver.example/configs"
	"approver.example/daemon/adminapi"
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

// askPlace is submitPlace, also where the configuration was spoiled since the daemon's start.
// Then it is found as people's commands find it, and says itself where it is asked.
func askPlace(ctx context.Context, config, named string) (none httpapi.SubmitClient, err error) {
	client, trouble := submitPlace(config, named)
	if trouble == nil {
		return client, nil
	}
	people, err := daemonAt{Config: config}.client(ctx)
	if err != nil {
		return none, err
	}
	var doc adminapi.Status
	if err := operateOn(ctx, people, adminapi.OpStatus, struct{}{}, &doc); err != nil {
		return none, fmt.Errorf("%w; %w", trouble, err)
	}
	if doc.Submit == "" { // an older daemon does not say it
		return none, trouble
	}
	return httpapi.SubmitClient{Socket: doc.Submit}, nil
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
