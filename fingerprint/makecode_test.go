//go:build unix

package fingerprint

import (
	"maps"
	"testing"
)

// A new file can decide what make does, and so can the text that a pipe passes on.
func TestWhatMakeAsksForIsBound(t *testing.T) {
	for makefile, file := range map[string]string{
		"ifneq ($(wildcard fl*),)\nx:\n\ttrue\nendif\n":              "flag",
		"V := $(if $(wildcard fl*),a,b)\nx:\n\ttrue\n":               "flag",
		"ifneq ($(wildcard flag),)\nx:\n\ttrue\nendif\n":             "flag/x",
		"C := $(shell grep ctx conf | cut -d= -f2)\nx:\n\techo $(C)": "conf",
	} {
		p := newPlayground(t)
		p.write("Makefile", makefile)
		before := p.of("make")
		p.write(file, "ctx=b")
		if maps.Equal(before, p.of("make")) {
			t.Errorf("%q: %s is not bound", makefile, file)
		}
	}
}

// What makefiles of many projects say for good shells and short output is followed.
func TestOrdinaryMakefilesAreFollowed(t *testing.T) {
	for _, text := range []string{
		"SHELL := bash\n.SHELLFLAGS := -eu -o pipefail -c\n.ONESHELL:\n.DELETE_ON_ERROR:\nMAKEFLAGS += " +
			"--warn-undefined-variables\nMAKEFLAGS += --no-builtin-rules\n",
		"SHELL = /usr/bin/env bash\n.SHELLFLAGS = -ec\n",
		"SHELL := $(shell which bash)\n",
		"SHELL := /bin/bash -o pipefail\n",
		".DEFAULT_GOAL := help\nhelp:\n\t@grep -E '^[a-z]+:' $(MAKEFILE_LIST) | sort\n",
		"VERSION ?= $(shell git describe --tags --always --dirty)\nDATE := $(shell date -u +%F)\nOS := $(shell uname -s)\n",
		"export CGO_ENABLED := 0\nexport GOFLAGS = -mod=mod\nGOBIN ?= $(shell go env GOPATH)/bin\n",
		"SRC := $(shell find . -name '*.go' -not -path './vendor/*')\nall: $(SRC)\n\tgo build -o app .\n",
		"SRC = $(wildcard *.c)\nOBJ = $(SRC:.c=.o)\napp: $(OBJ)\n\t$(CC) -o $@ $^\n",
		"ifeq ($(OS),Windows_NT)\nEXE = .exe\nendif\nifneq (,$(wildcard .env))\ninclude .env\nexport\nendif\n",
		"export PATH := $(PWD)/bin:$(PATH)\nx:\n\ttrue\n",
		".PHONY: x\n.SILENT:\n.SUFFIXES:\n.venv: req.txt\n\tpython3 -m venv .venv\n",
	} {
		p := newPlayground(t)
		p.write("Makefile", text+"x:\n\ttrue\n")
		call := p.call("make x")
		call.Env["PATH"] = "/usr/bin:/bin"
		if _, unbound, err := p.b.Files(t.Context(), call); err != nil || unbound != nil {
			t.Errorf("%q: %q, %v", text, unbound, err)
		}
	}
}
