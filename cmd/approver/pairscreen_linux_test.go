package main

import (
	"image"
	"image/color"
	"io"
	"strings"
	"testing"

	qrcode "github.com/piglig/go-qr"
	"golang.org/x/sys/unix"
)

// pairScreen runs pair telegram on a terminal, and returns what it shows and the code's link.
func pairScreen(t *testing.T, columns, rows uint16, env []string, args ...string) (screen, link string) {
	t.Helper()
	app := chatApps(t)[0]
	m := newPairMachine(t, "")
	master, tty := pty(t, columns)
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
	c := m.command(t.Context(), append(append([]string{"pair", "telegram", "--config", m.config, "--timeout", "1s"},
		app.flags...), args...)...)
	c.Env = append(c.Env, env...)
	c.Stdout = tty
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with EIO, when nobody has the other end any more
		read <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	_ = c.Run() // nobody sends the code
	_ = tty.Close()
	screen = <-read
	for line := range strings.Lines(screen) {
		if line = strings.TrimSpace(line); strings.Contains(line, "?start=") {
			link = line
		}
	}
	return screen, link
}

// What pair draws on a terminal is the link that it prints, and it draws nothing where that would
// not be seen whole, where colors are not wanted, or with --no-qr. Links are not broken.
func TestPairDrawsTheLink(t *testing.T) {
	screen, link := pairScreen(t, 80, 24, nil)
	if !strings.HasPrefix(link, "https://t.me/approver_test_bot?start=CONFIRM-") {
		t.Fatalf("no link:\n%s", screen)
	}
	var rows [][]rune
	for line := range strings.Lines(screen) {
		if inner, drawn := strings.CutPrefix(strings.TrimRight(line, "\n"), "\x1b[38;5;16;48;5;231m"); drawn {
			rows = append(rows, []rune(strings.TrimSuffix(inner, "\x1b[0m")))
		}
	}
	if len(rows) == 0 {
		t.Fatalf("nothing is drawn:\n%s", screen)
	}
	const scale = 4
	img := image.NewGray(image.Rect(0, 0, len(rows[0])*scale, len(rows)*2*scale))
	for y := range len(rows) * 2 * scale {
		for x := range len(rows[0]) * scale {
			r, upper := rows[y/scale/2][x/scale], y/scale%2 == 0
			if r == ' ' || r == '▀' && !upper || r == '▄' && upper {
				img.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	if got, err := qrcode.Decode(img); err != nil || got != link {
		t.Errorf("drawn is %q, %v, and printed %q", got, err, link)
	}
	for name, none := range map[string]func() (string, string){
		"--no-qr":  func() (string, string) { return pairScreen(t, 80, 24, nil, "--no-qr") },
		"narrow":   func() (string, string) { return pairScreen(t, 40, 24, nil) },
		"low":      func() (string, string) { return pairScreen(t, 80, 20, nil) },
		"NO_COLOR": func() (string, string) { return pairScreen(t, 80, 24, []string{"NO_COLOR=1"}) },
		"dumb":     func() (string, string) { return pairScreen(t, 80, 24, []string{"TERM=dumb"}) },
	} {
		screen, link := none()
		if strings.Contains(screen, "\x1b") || strings.ContainsAny(screen, "█▀▄") ||
			!strings.HasPrefix(link, "https://t.me/") {
			t.Errorf("%s: link %q in\n%s", name, link, screen)
		}
	}
}
