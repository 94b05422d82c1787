package pairing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"

	"approver.example"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
	"approver.example/tokens"
)

const pairHelp = `Prints a code that works once. The person sends it from the place that is to get cards. You see who it was, and say whether they may approve; then person and place are added to the configuration, whose comments stay, and count from the daemon's next start.
The daemon may run or not. Whoever is added after the first approver needs the yes of those who are, in their chats, as a CATASTROPHIC request; an isolated daemon takes the operator's word.
` + term.ExitCodes

// flags are what the platforms have in common.
type flags struct {
	Config  string        `help:"Configuration file, which init has written." short:"c" placeholder:"FILE"`
	Person  string        `help:"Whom the account belongs to, where they have others: votes and lock-outs count per person." placeholder:"ID"`
	APIURL  string        `help:"The platform's server, for a proxy or one of your own." name:"api-url" placeholder:"URL"`
	Timeout time.Duration `help:"How long to wait for the code." default:"5m"`
}

// mappings returns how somebody is added where both lists hold mappings.
func (c flags) mappings(places, people string) func(approver.Paired) pairing {
	return func(who approver.Paired) pairing {
		place := item{who.Chat, []string{"id: " + strconv.Quote(who.Chat)}}
		if who.Thread != 0 {
			place.id += "/" + strconv.Itoa(who.Thread)
			place.lines = append(place.lines, fmt.Sprintf("thread: %d", who.Thread))
		}
		return pairing{lists: []string{places, people}, items: map[string]item{places: place, people: c.person(who)}}
	}
}

// scalars returns how somebody is added where places are listed by their id.
func (c flags) scalars(places, people string) func(approver.Paired) pairing {
	return func(who approver.Paired) pairing {
		return pairing{lists: []string{places, people}, items: map[string]item{places: {id: who.Chat}, people: c.person(who)}}
	}
}

func (c flags) person(who approver.Paired) item {
	lines := []string{"id: " + strconv.Quote(who.ID), "name: " + strconv.Quote(approver.OneLine(who.Name))}
	if c.Person != "" {
		lines = append(lines, "person: "+strconv.Quote(c.Person))
	}
	return item{who.ID, lines}
}

func (c flags) read() (configText, error) {
	at := configText{path: c.Config}
	if at.path == "" {
		var err error
		if at.path, err = adminclient.UsualConfig(); err != nil {
			return at, err
		}
	}
	var err error
	at.text, err = os.ReadFile(at.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, fmt.Errorf("there is no %s: run approver init first", at.path)
	case err != nil:
		return at, err
	}
	if real, err := filepath.EvalSymlinks(at.path); err == nil {
		if err := daemon.Writable(filepath.Dir(real)); err != nil {
			return at, fmt.Errorf("%s could not be changed, so nobody is paired: %w: run this as its owner", at.path, err)
		}
	}
	var doc struct {
		Dir      string           `yaml:"dir"`
		Sockets  configs.Sockets  `yaml:"sockets"`
		Channels configs.Channels `yaml:"channels"`
	}
	if err := yaml.Unmarshal(at.text, &doc); err != nil {
		return at, errors.New("the configuration cannot be read: approver doctor says where")
	}
	at.cfg = configs.Default()
	at.cfg.File, at.cfg.Dir, at.cfg.Sockets, at.cfg.Channels = at.path, doc.Dir, doc.Sockets, doc.Channels
	if at.cfg, err = at.cfg.Resolve(filepath.Dir(at.path)); err != nil {
		return at, err
	}
	at.channels = at.cfg.Channels
	return at, nil
}

// run pairs somebody on p.
func (c flags) run(ctx context.Context, at configText, p platform) error {
	client := adminclient.NewSudo().At(at.cfg.Sockets.Resolve, nil)
	daemon, receives, err := daemonOn(ctx, client, p.name)
	if err != nil {
		return err
	}
	if !daemon {
		if err := offline(at.cfg); err != nil {
			return err
		}
	}
	if receives && len(p.fresh) > 0 {
		return errors.New("the daemon receives for this channel already, with its own bot: leave out the files and the server")
	}
	code, err := tokens.Mint(CodeLength)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("the code was good for %v: run this again for a new one", c.Timeout))
	defer cancel()
	found, err := c.listen(wait, client, p, receives, code)
	if err != nil {
		return err
	}
	term.Print(0, p.how+"\n%[2]s\n    %[1]s\n\nwaiting %[3]v\n", code.Reveal(), p.where(ctx), c.Timeout)
	who, err := found()
	if err != nil {
		return err
	}
	term.Print(0, "%s sent it: user id %s, in %s %s\n", approver.Visible(strconv.Quote(who.Name)), term.Visibly(who.ID), term.Visibly(who.Chat), approver.Visible(who.Title))
	if !term.TypedYes(os.Stdin, os.Stdout, "may this person approve what agents do? The name proves nothing.") {
		return errors.New("not confirmed: nothing was changed")
	}
	add := p.lines(who)
	add.channel, add.fresh = p.name, p.fresh
	return addTo(ctx, at, add, who, func(diff []string) error {
		if !daemon {
			return nil
		}
		var done adminapi.ControlAnswer
		err := client.Operate(ctx, adminapi.OpAdmit, adminapi.AdmitRequest{Channel: p.name, Who: who, Person: c.Person, File: at.path, Diff: diff}, &done)
		if err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		term.Say(done.Text)
		return nil
	})
}

// listen begins to wait for the code, through the daemon if that receives, and
// returns what waits for the end of it.
func (c flags) listen(ctx context.Context, client httpapi.ResolveClient, p platform, receives bool, code tokens.Code) (func() (approver.Paired, error), error) {
	if receives {
		return func() (who approver.Paired, err error) {
			err = client.Operate(ctx, adminapi.OpPair, adminapi.PairRequest{Channel: p.name, Code: code.Reveal()}, &who)
			return who, lateIn(ctx, err)
		}, nil
	}
	ch, err := p.open()
	if err != nil {
		return nil, err
	}
	if h, ok := ch.(approver.HealthChecker); ok {
		if _, err := h.Health(ctx); err != nil {
			return nil, fmt.Errorf("%w\nthe bot's platform did not answer as it should: look at the token, and at the network; --api-url names a proxy", lateIn(ctx, err))
		}
	}
	return func() (approver.Paired, error) { return Alone(ctx, ch, code) }, nil
}
