// Package pairing has the command pair: it finds out who somebody is in a chat, and adds them
// to the configuration. commands.go makes a command for each chat platform, run.go waits for
// the code, and text.go changes the text of the file.
package pairing

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"github.com/alecthomas/kong"
)

// Cmd is the command pair. Use Commands to make one.
type Cmd struct{ kong.Plugins }

// Commands returns the command pair with a subcommand for each chat platform.
func Commands() Cmd {
	var fields []reflect.StructField
	var commands []platformCmd
	for i, ch := range (configs.Channels{}).AllPlatforms() {
		at := ch.ChannelSection.(configs.PlatformSection).Platform()
		commands = append(commands, platformCmd{channel: ch.Name, Plugins: kong.Plugins{secretFlags(asked(ch.Secrets()))}})
		fields = append(fields, field[platformCmd](i, "name", ch.Name, "cmd", "",
			"help", fmt.Sprintf("Let somebody send a code to the %s, and add them.", at.Receiver),
			"set", "platform="+ch.Name, "set", "pair_flags="+at.Example))
	}
	all := reflect.New(reflect.StructOf(fields))
	for i, c := range commands {
		all.Elem().Field(i).Set(reflect.ValueOf(c))
	}
	return Cmd{kong.Plugins{all.Interface()}}
}

// asked returns the secrets that a command asks for.
func asked(all []secret.Setting) []secret.Setting {
	return slices.DeleteFunc(all, func(s secret.Setting) bool { return s.Holds == "" })
}

// secretFlags returns a struct with a flag for the file of each secret.
func secretFlags(secrets []secret.Setting) any {
	var fields []reflect.StructField
	for i, s := range secrets {
		fields = append(fields, field[string](i, "name", flagOf(s), "placeholder", "FILE",
			"help", fmt.Sprintf("File with %s; left out, that of the configuration.", s.Holds)))
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// field returns the i-th field of a struct for kong. tags are pairs of a key and a value.
func field[T any](i int, tags ...string) reflect.StructField {
	var tag strings.Builder
	for n := 0; n < len(tags); n += 2 {
		fmt.Fprintf(&tag, "%s:%q ", tags[n], tags[n+1])
	}
	name := fmt.Sprintf("F%d", i)
	return reflect.StructField{Name: name, Type: reflect.TypeFor[T](), Tag: reflect.StructTag(tag.String())}
}

// flagOf returns the name of the flag for the file of a secret.
func flagOf(s secret.Setting) string { return strings.ReplaceAll(s.Name, "_", "-") + "-file" }

// A platformCmd pairs somebody on one chat platform.
type platformCmd struct {
	flags
	kong.Plugins // the flags of the secrets' files
	channel      string
}

// Run pairs.
func (c platformCmd) Run(ctx context.Context) error {
	at, err := c.read()
	if err != nil {
		return err
	}
	files := reflect.ValueOf(c.Plugins[0]).Elem()
	var named []string
	for i := range files.NumField() {
		named = append(named, files.Field(i).String())
	}
	p, err := platformOf(at.channels, c.channel, named, c.APIURL, filepath.Dir(at.path))
	if err != nil {
		return err
	}
	return c.run(ctx, at, p)
}

// flags are the flags that all platforms share.
type flags struct {
	Config  string        `help:"Configuration file, which init has written." short:"c" placeholder:"FILE"`
	Person  string        `help:"Whom the account belongs to, where they have others: votes and lock-outs count per person. The first account is, without it, that of whoever ran init." placeholder:"ID"`
	APIURL  string        `help:"The platform's server, for a proxy or one of your own." name:"api-url" placeholder:"URL"`
	Timeout time.Duration `help:"How long to wait for the code, and, up to two minutes, for a tap on the test card." default:"5m"`
	NoQR    bool          `help:"Show no QR code. Without a terminal there is none anyway." name:"no-qr"`
	NoTest  bool          `help:"Show no test card when the person is paired."`
}

// added returns what to add to the configuration for somebody on a platform.
func (c flags) added(at section.Platform, who approver.Paired) pairing {
	const people = "approvers"
	place := item{id: who.Chat}
	if at.Mapped {
		place.lines = []string{"id: " + strconv.Quote(who.Chat)}
	}
	if who.Thread != 0 {
		place.id += "/" + strconv.Itoa(who.Thread)
		place.lines = append(place.lines, fmt.Sprintf("thread: %d", who.Thread))
	}
	return pairing{lists: []string{at.Places, people}, items: map[string]item{at.Places: place, people: c.person(who)}}
}

func (c flags) person(who approver.Paired) item {
	lines := []string{"id: " + strconv.Quote(who.ID), "name: " + strconv.Quote(display.OneLine(who.Name))}
	if c.Person != "" {
		lines = append(lines, "person: "+strconv.Quote(c.Person))
	}
	return item{who.ID, lines}
}
