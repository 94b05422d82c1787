package sqltext

import (
	"net/url"
	"strings"

	"approver.example/reflexcore/effect"
)

// HTTP appends what a request does to the service behind it, by its method,
// address and body: resources that are deleted, and the calls of Elasticsearch
// that delete by a question. Reading has no effect here.
func HTTP(dst []effect.Effect, method, address, body string) []effect.Effect {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.Path
	}
	method = strings.ToUpper(strings.TrimSpace(method))
	by := method + " request"
	last := strings.Trim(path, "/")
	last = last[strings.LastIndexByte(last, '/')+1:]
	switch {
	case method == "DELETE":
		bits := effect.Bits(0)
		first := strings.Trim(path, "/")
		// The root, all indexes, a pattern, a list.
		if first == "" || strings.HasPrefix(first, "_all") || strings.ContainsAny(first, "*,") ||
			!effect.IsKnown(first) && strings.IndexByte(first, '/') < 0 {
			bits |= effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by, Bits: bits})
	case last == "_delete_by_query", last == "_bulk" && strings.Contains(body, `"delete"`):
		bits := effect.Bits(0)
		if body == "" || strings.Contains(body, "match_all") || !effect.IsKnown(body) || strings.Contains(path, "*") ||
			strings.Contains(path, "_all") {
			bits = effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by + " " + last, Bits: bits})
	case method == "POST" && (last == "_close" || last == "_forcemerge"), method == "PUT" &&
		(last == "_settings" || strings.HasPrefix(last, "_security")):
		dst = append(dst, effect.Effect{Kind: effect.Permission, Target: address, By: by})
	}
	return dst
}
