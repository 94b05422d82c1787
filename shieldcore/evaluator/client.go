package evaluator

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of what goes over the wire.
const (
	maxRequest      = 8 << 20 // bytes; twice quoted, a payload grows eightfold at worst
	maxResponse     = 1 << 20 // bytes of a body; a model's answer has a few hundred
	maxHeaders      = 64 << 10
	connectTime     = 10 * time.Second
	afterRetryAfter = time.Second // what must be left of the deadline after a wait
)

// A client sends one request per evaluation. The zero client sends nothing.
type client struct {
	http *http.Client
	to   *url.URL
	// authorize puts the key into a request. The key is inside this function and in
	// no field, so that nothing that prints a struct can print it.
	authorize func(http.Header)
}

// newClient configures the connection. Each evaluation uses a new connection, so that
// nothing is shared between two, and the standard library never logs a server's words
// about an idle one.
func newClient(to, proxy *url.URL, authorize func(http.Header)) *client {
	dialer := &net.Dialer{Timeout: connectTime}
	if to.Scheme == "http" {
		dialer.Control = onlyLoopback
	}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTime,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true, // so that the bound of a body is one of what is read
		MaxResponseHeaderBytes: maxHeaders,
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	return &client{to: to, authorize: authorize, http: &http.Client{
		Transport: t,
		// A redirect would carry the payload, and perhaps the key, to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var errNotLoopback = errors.New("not a loopback address")

// onlyLoopback refuses to dial another machine, whatever a name resolves to.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return errNotLoopback
	}
	return nil
}

// post returns the body of an answer with status 200. The error is an
// UnavailableError, or a reason to block: a status that the payload may have
// caused, or an answer that no provider gives.
func (c *client) post(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) > maxRequest {
		return nil, errors.New("the request is too large to be sent")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "approver")
	c.authorize(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, broken(ctx, err)
	}
	defer resp.Body.Close()
	if err := checkStatus(resp); err != nil {
		return nil, err
	}
	switch kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case err == nil && kind == "text/html":
		return nil, errors.New("the answer is a web page, so another server is there: check url")
	case err != nil || kind != "application/json":
		return nil, errors.New("the answer is not application/json: check url and provider")
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, errors.New("the answer is encoded, which was not asked for")
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case len(answer) > maxResponse:
		return nil, errors.New("the answer is larger than any can be")
	case err != nil:
		return nil, broken(ctx, err)
	}
	return answer, nil
}

// checkStatus returns an UnavailableError if the provider is overloaded or down. Any
// other status but 200 blocks in every fail mode: a gateway or a filter may refuse a
// payload with 400 or 403, so an agent could cause it on purpose.
func checkStatus(resp *http.Response) error {
	code := resp.StatusCode
	switch {
	case code == http.StatusOK:
		return nil
	case code == http.StatusTooManyRequests && isOf(refusal(resp), "insufficient quota", "billing"):
		return &UnavailableError{Why: "the account has no money or quota left: look at its billing with the provider",
			Status: code, RetryAfter: retryAfter(resp)}
	case code == http.StatusTooManyRequests:
		return &UnavailableError{Why: "it limits the rate of requests", Status: code, RetryAfter: retryAfter(resp)}
	case code == http.StatusRequestTimeout, code >= 500:
		return &UnavailableError{Why: "it failed by itself", Status: code, RetryAfter: retryAfter(resp)}
	case code == http.StatusUnauthorized:
		return errors.New("the provider does not take the key (" + refusal(resp) + "): check key_file or key_env")
	case code >= 300 && code < 400:
		return errors.New("the provider redirects, which is not followed (HTTP " + strconv.Itoa(code) + "): check url")
	case code == http.StatusNotFound:
		return errors.New("the provider does not know the address or the model (" + refusal(resp) + "): check url and model")
	}
	why := refusal(resp)
	cure := "check model, reasoning and max_payload"
	switch {
	case code == http.StatusPaymentRequired || isOf(why, "billing", "insufficient quota"):
		cure = "look at the account's billing with the provider"
	case code == http.StatusForbidden:
		cure = "check with the provider what the key may do: it may lack the right to this model, or its project or " +
			"region is not admitted"
	case isOf(why, "model not"):
		cure = "check model"
	case isOf(why, "too large", "context length"):
		cure = "check max_payload"
	case isOf(why, "unsupported"):
		cure = "check reasoning and model"
	}
	return errors.New("the provider refused the request (" + why + "): " + cure)
}

// isOf reports whether a refusal has one of these words.
func isOf(why string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(why, w) })
}

// retryAfter reads the header in both of its forms; zero if it is not there.
func retryAfter(resp *http.Response) time.Duration {
	v := resp.Header.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s >= 0 && s < 1<<20 {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// pause waits as long as the provider asked for, if there is time for that and
// for another request before the deadline. It reports whether to try again.
func pause(ctx context.Context, err error) bool {
	var u *UnavailableError
	if !errors.As(err, &u) || u.RetryAfter <= 0 {
		return false
	}
	if end, ok := ctx.Deadline(); !ok || time.Until(end) < u.RetryAfter+afterRetryAfter {
		return false
	}
	timer := time.NewTimer(u.RetryAfter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
