package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/channels/telegram"
	"approver.example/configs"
	"approver.example/tokens"
)

type pairCmd struct {
	Telegram pairTelegramCmd `cmd:"" help:"Let somebody send a code to the Telegram bot, and add them."`
}

// Help is the long text.
func (pairCmd) Help() string {
	return `Finds out who somebody is on a chat platform, without anybody looking up numbers.

Example:
  approver pair telegram --token-file ~/.approver/telegram.token`
}

type pairTelegramCmd struct {
	Config    string        `help:"Configuration file, which init has written." short:"c" placeholder:"FILE"`
	TokenFile string        `help:"File with the bot's token; left out, that of the configuration." placeholder:"FILE"`
	APIURL    string        `help:"The Bot API server, for one of your own." name:"api-url" placeholder:"URL"`
	Timeout   time.Duration `help:"How long to wait for the code." default:"5m"`
}

// Help is the long text.
func (pairTelegramCmd) Help() string {
	return `Prints a code that works once. The person sends it to the bot, in the chat that is to get cards. You see who it was, and say whether they may approve; then person and chat are added to the configuration, whose comments stay.
Stop the daemon first: two programs cannot listen for one bot.

Example:
  approver pair telegram
  approver pair telegram --token-file ~/.approver/telegram.token`
}

// pairCodeLength is longer than that of a card's code: it lives longer, and
// tries are not counted.
const pairCodeLength = 12

// Run pairs.
func (c pairTelegramCmd) Run(ctx context.Context) error {
	path, text, err := readConfigText(c.Config)
	if err != nil {
		return err
	}
	found, err := telegramSection(text)
	if err != nil {
		return err
	}
	settings := telegram.Config{Token: found.Token, TokenFile: found.TokenFile, APIURL: firstText(c.APIURL, found.APIURL)}
	if c.TokenFile != "" {
		settings.Token, settings.TokenFile = approver.Secret{}, c.TokenFile
	}
	if settings.TokenFile != "" && approver.IsPath(settings.TokenFile) && c.TokenFile == "" && !filepath.IsAbs(settings.TokenFile) {
		settings.TokenFile = filepath.Join(filepath.Dir(path), settings.TokenFile)
	}
	if cfg, err := configs.Parse(path, text); err == nil && listens(cfg.Sockets.Submit) {
		return errors.New("the daemon runs, and two programs cannot listen for one bot: stop it for the pairing")
	}
	code, err := tokens.Mint(pairCodeLength)
	if err != nil {
		return err
	}
	fmt.Printf("send this to the bot, in the chat that is to get cards; in a group as a command, /pair %s\n\n    %[1]s\n\nwaiting %v\n", code.Reveal(), c.Timeout)
	wait, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	who, err := telegram.Pair(wait, settings, code, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	fmt.Printf("%s sent it: user id %s, in chat %s %s\n", approver.Visible(strconv.Quote(who.Name)), who.ID, who.Chat, approver.Visible(who.Title))
	fmt.Printf("may this person approve what agents do? The name proves nothing. Type yes: ")
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n') // no answer is a no
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("not confirmed: nothing was changed")
	}
	return addTo(path, who, telegramLines(who, c, settings))
}

func readConfigText(named string) (string, []byte, error) {
	path := named
	if path == "" {
		var err error
		if path, err = configs.DefaultPath(); err != nil {
			return "", nil, err
		}
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("there is no %s: run approver init first", path)
	}
	return path, text, err
}

// listens reports whether a daemon is there.
func listens(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close() // it was only a look
	return true
}

// addTo writes the person and the chat into the configuration.
func addTo(path string, who approver.Paired, add pairing) error {
	_, changed, err := changeFile(path, func(old []byte) ([]byte, error) {
		next, err := add.into(old)
		if err != nil {
			return nil, err
		}
		_, err = configs.Parse(path, next)
		return next, err
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w\nadd the user id %s and the chat %s by hand", err, who.ID, who.Chat)
	case !changed:
		fmt.Printf("%s names them already\n", path)
	default:
		fmt.Printf("added to %s; start the daemon: approver serve\n", path)
	}
	return nil
}
