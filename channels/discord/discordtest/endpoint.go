package discordtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// This file brings interactions to an endpoint over HTTP, in the place of the gateway.

// PublicKey is the application's public key, in hexadecimal digits.
func (s *Server) PublicKey() string {
	return hex.EncodeToString(s.key.Public().(ed25519.PublicKey))
}

// Endpoint is where interactions go; empty for the gateway.
func (s *Server) Endpoint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint
}

// SetEndpoint enters where interactions go without a look at it, as somebody with the right to may.
func (s *Server) SetEndpoint(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = address
}

// application is what the bot reads of its application. The caller holds mu.
func (s *Server) application() map[string]any {
	var endpoint any
	if s.endpoint != "" {
		endpoint = s.endpoint
	}
	return map[string]any{"id": s.app, "name": "approver", "bot": s.users[s.bot], "verify_key": s.PublicKey(),
		"interactions_endpoint_url": endpoint}
}

// patchApplication enters an endpoint if it proves that it checks signatures, as Discord wants: it answers a ping,
// and refuses one with a wrong signature.
func (s *Server) patchApplication(r *http.Request) (any, error) {
	var in struct {
		Endpoint *string `json:"interactions_endpoint_url"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return nil, errJSON
	}
	address := ""
	if in.Endpoint != nil {
		address = *in.Endpoint
	}
	if address != "" {
		if err := s.Probe(r.Context(), address); err != nil {
			return nil, invalid("interactions_endpoint_url", "APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID",
				"The specified interactions endpoint url could not be verified.")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = address
	return s.application(), nil
}

// Probe says whether an endpoint answers a ping and refuses one whose signature is not of its body.
func (s *Server) Probe(ctx context.Context, address string) error {
	ping := []byte(`{"type":1}`)
	status, answer, err := s.Bring(ctx, address, ping, s.Sign(time.Now(), ping))
	var pong struct{ Type int }
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &pong) != nil || pong.Type != 1 {
		return fmt.Errorf("a ping is answered with %d %s, %w", status, answer, err)
	}
	status, _, err = s.Bring(ctx, address, ping, s.Sign(time.Now(), []byte(`{"type":2}`)))
	if err != nil || status != http.StatusUnauthorized {
		return fmt.Errorf("a wrong signature is answered with %d, %w", status, err)
	}
	return nil
}

// Sign returns the headers with which Discord would sign a body at a time.
func (s *Server) Sign(at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{"Content-Type": {"application/json"}}
	h.Set("X-Signature-Timestamp", stamp)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(s.key, append([]byte(stamp), body...))))
	return h
}

// Bring sends a request to an endpoint as Discord does, and returns the answer.
func (s *Server) Bring(ctx context.Context, address string, body []byte, header http.Header) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.AckWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxUpload))
	return resp.StatusCode, answer, err
}

// bring brings an interaction, and carries out the response in the answer. Discord never brings one twice.
func (s *Server) bring(event any) {
	body, err := json.Marshal(event)
	if err != nil {
		panic("discordtest: " + err.Error())
	}
	var of struct{ Token string }
	_ = json.Unmarshal(body, &of) // one without a token is nobody's
	s.Note("endpoint: an interaction")
	status, answer, err := s.Bring(context.Background(), s.Endpoint(), body, s.Sign(time.Now(), body))
	s.mu.Lock()
	defer s.mu.Unlock()
	var in response
	i := s.interactions[of.Token]
	switch {
	case err != nil:
	case status != http.StatusOK:
		err = fmt.Errorf("status %d", status)
	case json.Unmarshal(answer, &in) != nil:
		err = errors.New("no JSON")
	case i == nil || i.acked:
		err = errAcked
	default:
		err = s.respond(i, in, nil)
	}
	if err != nil {
		s.Note("endpoint: %v", err)
		return
	}
	s.Note("endpoint: response %d", in.Type)
}
