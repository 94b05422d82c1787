// Package services has the command service, which lets systemd or launchd run the daemon.
package services

import (
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/safefile"
	"approver.example/display"
)

// Cmd is the command service.
type Cmd struct {
	Install   serviceInstallCmd   `cmd:"" help:"Write the unit and say how to start it."`
	Uninstall serviceUninstallCmd `cmd:"" help:"Remove the unit."`
}

// Unit says which service manager's file is meant.
type Unit struct {
	User    bool   `help:"A service of your own, not one of the machine."`
	Manager string `help:"The service manager; left out, the one of this system." enum:"systemd,launchd," default:"" placeholder:"systemd|launchd"`
	Path    string `help:"The file; left out, where the service manager looks." placeholder:"FILE"`
}

// System returns the service manager of the unit.
func (u Unit) System() string {
	switch {
	case u.Manager != "":
		return u.Manager
	case runtime.GOOS == "darwin":
		return "launchd"
	}
	return "systemd"
}

// label is the daemon's name in launchd.
const label = "example.approver"

// Place returns the path of the unit's file.
func (u Unit) Place() (string, error) {
	if u.Path != "" {
		return filepath.Abs(u.Path)
	}
	home, err := os.UserHomeDir()
	if u.User && err != nil {
		return "", err
	}
	switch launchd := u.System() == "launchd"; {
	case launchd && u.User:
		return filepath.Join(home, "Library", "LaunchAgents", label+".plist"), nil
	case launchd:
		return "/Library/LaunchDaemons/" + label + ".plist", nil
	case u.User:
		return filepath.Join(home, ".config", "systemd", "user", "approver.service"), nil
	}
	return "/etc/systemd/system/approver.service", nil
}

type serviceInstallCmd struct {
	Unit
	Config     string   `help:"Configuration file." short:"c" placeholder:"FILE"`
	Credential []string `help:"Secret that systemd hands over, as NAME:PATH; the configuration names it credential:NAME." placeholder:"NAME:PATH"`
	As         string   `help:"The daemon's user, for a service of the machine." default:"approver" placeholder:"USER"`
	Print      bool     `help:"Show the file and write nothing."`
}

// Run writes or prints the unit.
func (c serviceInstallCmd) Run() error {
	text, err := c.text()
	if err != nil || c.Print {
		fmt.Print(text)
		return err
	}
	path, err := c.Place()
	if err != nil {
		return err
	}
	backup, changed, err := safefile.ChangeFile(path, func([]byte) ([]byte, error) { return []byte(text), nil })
	if errors.Is(err, fs.ErrPermission) && !c.User {
		return fmt.Errorf("%w: a service of the machine is root's to write: %s; or --user for a service of your own", err,
			display.AsRoot("service install"))
	} else if err != nil {
		return err
	}
	if changed && c.Path == "" {
		if err := os.Chmod(path, 0o644); err != nil {
			return err
		}
	}
	if backup != "" {
		term.Print(0, "what it was is in %s\n", backup)
	}
	term.Print(0, "%s is there; start it with:\n", path)
	fmt.Printf("  %s\n", c.Start(path)) // on a line of its own, to be copied
	return nil
}

// Start returns the command that starts the service.
func (u Unit) Start(path string) string {
	switch launchd := u.System() == "launchd"; {
	case launchd && u.User:
		return "launchctl bootstrap gui/$(id -u) " + path
	case launchd:
		return "launchctl bootstrap system " + path
	case u.User:
		return "systemctl --user daemon-reload && systemctl --user enable --now approver"
	}
	return "systemctl daemon-reload && systemctl enable --now approver"
}

func (c serviceInstallCmd) text() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	config := c.Config
	if config == "" && !c.User {
		config = "/etc/approver/approver.yaml"
	} else if config == "" {
		config, err = adminclient.UsualConfig()
	}
	if err == nil {
		config, err = filepath.Abs(config)
	}
	if err != nil {
		return "", err
	}
	for _, s := range append([]string{program, config, c.As}, c.Credential...) {
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", fmt.Errorf("%q has a control character", s)
		}
	}
	if c.System() == "launchd" {
		return c.plist(program, config)
	}
	return c.systemd(program, config)
}

// quoted returns a word of a unit file, in quotes, with % and $ escaped.
func quoted(s string) string {
	return strconv.Quote(strings.NewReplacer("%", "%%", "$", "$$").Replace(s))
}

// The files of the service managers, with variables such as ${config}.
var (
	//go:embed units/approver.service
	unitFile string
	//go:embed units/machine.service
	unitOfMachine string // what a user's own unit cannot have, because it needs root
	//go:embed units/approver.plist
	plistFile string
)

func filled(text string, vars map[string]string) string {
	return os.Expand(text, func(name string) string { return vars[name] })
}

func (c serviceInstallCmd) systemd(program, config string) (string, error) {
	vars := map[string]string{"program": quoted(program), "config": quoted(config)}
	for _, credential := range c.Credential {
		name, path, ok := strings.Cut(credential, ":")
		if !ok || name == "" || strings.ContainsAny(name, `/ "`) || !filepath.IsAbs(path) {
			return "", fmt.Errorf("--credential %q: write NAME:/absolute/path", credential)
		}
		vars["credentials"] += "LoadCredential=" + strings.ReplaceAll(credential, "%", "%%") + "\n"
	}
	vars["rest"] = "\n[Install]\nWantedBy=default.target\n"
	if !c.User {
		vars["rest"] = filled(unitOfMachine, map[string]string{"user": c.As})
	}
	return filled(unitFile, vars), nil
}

func (c serviceInstallCmd) plist(program, config string) (string, error) {
	if len(c.Credential) > 0 {
		return "", errors.New("--credential is systemd's: name files of mode 0600 in the configuration")
	}
	escaped := func(text string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(text)) // a Builder returns no error
		return b.String()
	}
	vars := map[string]string{"label": label, "program": escaped(program), "config": escaped(config)}
	if !c.User {
		vars["machine"] = "  <key>UserName</key><string>" + escaped(c.As) + "</string>\n" +
			"  <key>StandardErrorPath</key><string>/var/log/approver.log</string>\n"
	}
	return filled(plistFile, vars), nil
}

type serviceUninstallCmd struct{ Unit }

// Run removes the file.
func (c serviceUninstallCmd) Run() error {
	path, err := c.Place()
	if err != nil {
		return err
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("there is no %s\n", path)
		return nil
	}
	if err == nil {
		fmt.Printf("removed %s\n", path)
	}
	return err
}

// InstallsService returns the command that makes the system run the daemon, for the current
// user: only root can install a service of the machine.
func InstallsService() string {
	if os.Geteuid() != 0 {
		return "approver service install --user"
	}
	return "approver service install"
}

// StartsDaemon returns the command that starts the daemon of a configuration. A daemon for
// agents that run as other users has its own user, so it is not started by hand.
func StartsDaemon(cfg configs.Config) string {
	who, err := cfg.Sockets.Submitters()
	switch {
	case err != nil || !who.Named():
		return "approver serve, or " + InstallsService()
	case runtime.GOOS == "darwin":
		return "sudo launchctl kickstart system/" + label + ", after " + display.AsRoot("service install")
	}
	return "sudo systemctl start approver, after " + display.AsRoot("service install")
}

// Flag returns the flag for this unit, with a leading space, or the empty string.
func (u Unit) Flag() string {
	if u.User {
		return " --user"
	}
	return ""
}

// Enabled reports whether a systemd unit is enabled: systemctl enable makes a link in the
// folder of a target.
func Enabled(path string, u Unit) bool {
	target := "multi-user.target.wants"
	if u.User {
		target = "default.target.wants"
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), target, filepath.Base(path)))
	return err == nil
}
