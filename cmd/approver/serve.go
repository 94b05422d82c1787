package main

import (
	"context"
	"os"

	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/logging"
)

type serveCmd struct {
	Config    string             `help:"Configuration file." short:"c" placeholder:"FILE"`
	LogLevel  *configs.Level     `help:"debug, info, warn or error, whatever the configuration says." placeholder:"LEVEL"`
	LogFormat *configs.LogFormat `help:"text or json, whatever the configuration says." placeholder:"FORMAT"`
}

// Run runs the daemon.
func (c serveCmd) Run(ctx context.Context) error {
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	if c.LogLevel != nil {
		cfg.Log.Level = *c.LogLevel
	}
	if c.LogFormat != nil {
		cfg.Log.Format = *c.LogFormat
	}
	log := logging.New(os.Stderr, cfg.Log)
	logging.FromLibraries(log)
	return daemon.New(cfg, log).Run(ctx)
}
