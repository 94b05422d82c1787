package channeltest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
)

// ForeignError checks what a channel says of answers that its platform did not give: each of its
// errors names the HTTP status, and none has a word of the body. open makes the channel for
// a platform at url.
func ForeignError(
	t *testing.T, open func(t *testing.T, url string, log *slog.Logger) (approver.Channel, approver.Destination),
) {
	const mark = "SIGN-IN-PAGE"
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"a page with 502": {502, "<html><body>" + mark + "</body></html>",
			"HTTP 502 Bad Gateway: the answer is not JSON: a proxy or a wrong URL?"},
		"a page with 500": {500, "<html>" + mark, "HTTP 500 Internal Server Error: the answer is not JSON: "},
		"a page with 404": {404, "<!doctype html>" + mark, "HTTP 404 Not Found: the answer is not JSON: "},
		"a page with 403": {403, mark, "HTTP 403 Forbidden: the answer is not JSON: "},
		"a page with 401": {401, "<html>" + mark, "HTTP 401 Unauthorized: the answer is not JSON: "},
		"a page with 407": {407, "<html>" + mark,
			"HTTP 407 Proxy Authentication Required: the answer is not JSON: "},
		"a page that says it is OK": {200, "<html>" + mark, "HTTP 200 OK: the answer is not JSON: "},
		"a redirect":                {302, "<html>" + mark, "HTTP 302 Found: the answer is not JSON: "},
		"a status of nobody's":      {599, mark, "HTTP 599: the answer is not JSON: "},
		"nothing with 502":          {502, "", "HTTP 502 Bad Gateway: the answer is empty: a proxy or a wrong URL?"},
		"nothing with 200":          {200, "", "HTTP 200 OK: the answer is empty: "},
		"blanks with 200":           {200, " \r\n", "HTTP 200 OK: the answer is empty: "},
		"JSON of another with 503": {503, `{"problem":"` + mark + `"}`,
			"HTTP 503 Service Unavailable: the answer is JSON, but not of this API: "},
		"a word of JSON with 200": {200, `"` + mark + `"`, "HTTP 200 OK: the answer is not JSON: "},
		"cut JSON":                {200, `{"` + mark, "HTTP 200 OK: the answer is not JSON: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer proxy.Close()
			var logs buffer
			channel, to := open(t, proxy.URL, slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
			said := func(where, text string) {
				t.Helper()
				if !strings.Contains(text, c.want) || strings.Contains(text, mark) || strings.Contains(text, "<html") {
					t.Errorf("%s: %q has to say %q", where, text, c.want)
				}
			}
			health, ok := channel.(interface {
				Health(context.Context) (string, error)
			})
			if !ok {
				t.Fatal("the channel has no Health")
			}
			_, err := health.Health(t.Context())
			said("Health", text(err))
			_, err = channel.Post(t.Context(), to, high(t))
			said("Post", text(err))
			if errors.Is(err, approver.ErrFinal) && c.status != http.StatusRequestEntityTooLarge {
				t.Errorf("Post takes it for the platform's last word: %v", err)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- channel.Run(ctx, nil) }()
			receiver, ok := channel.(approver.Receiver)
			for ok && receiver.Reception().Problem == "" && len(done) == 0 {
				time.Sleep(5 * time.Millisecond)
			}
			said("Reception", receiver.Reception().Problem)
			stop()
			if err := <-done; err != nil {
				said("Run", err.Error())
			}
			if text := logs.String(); strings.Contains(text, mark) || strings.Contains(text, "html") {
				t.Errorf("the log has what came: %s", text)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// A buffer takes lines of several goroutines.
type buffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}
