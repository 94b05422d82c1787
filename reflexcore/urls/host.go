package urls

import (
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/decode"
)

// host classifies the host. It reads it as a lenient client does: it undoes escapes, makes wide
// letters narrow, drops invisible ones and ignores case.
func (i *Info) host(h string) {
	if (i.Scheme == "ipfs" || i.Scheme == "ipns") && isContentAddress(h) {
		i.Host = h
		return
	}
	plain := true
	for j := 0; j < len(h); j++ {
		c := h[j]
		if c >= utf8.RuneSelf || c == '%' || c >= 'A' && c <= 'Z' || c <= ' ' || c == 0x7f {
			plain = false
			break
		}
	}
	if !plain {
		h = i.fold(h)
	}
	h = strings.TrimRight(h, ".")
	i.Host = h
	if h == "" || len(h) > 4<<10 {
		i.Flags |= Malformed
		return
	}
	if addr, ok := i.address(h); ok {
		i.Addr = addr
		i.Flags |= Address | classOf(addr)
		i.clearPlaintext()
		return
	}
	if strings.ContainsAny(h, " <>^`{|}\"'()$,;&!*") {
		i.Flags |= Malformed
	}
	i.labels(h)
	i.name(h)
	i.clearPlaintext()
}

// clearPlaintext removes Plaintext if nothing leaves the machine.
func (i *Info) clearPlaintext() {
	if i.Flags&Loopback != 0 {
		i.Flags &^= Plaintext
	}
}

// fold undoes escapes and letter widths, and flags what they hid.
func (i *Info) fold(h string) string {
	if strings.IndexByte(h, '%') >= 0 {
		// In an IPv6 address, % begins a zone.
		if addr, _, _ := strings.Cut(h, "%"); strings.Count(addr, ":") < 2 {
			i.Flags |= Disguised
			h = decode.Percent(h)
		}
	}
	buf := make([]byte, 0, min(len(h), 1<<10)+8)
	for _, r := range h {
		switch {
		case r == utf8.RuneError, r <= ' ', r == 0x7f:
			i.Flags |= Malformed
			continue
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r |= 0x20
			}
			buf = append(buf, byte(r))
			continue
		}
		if n, ok := narrow(r); ok {
			i.Flags |= Disguised
			if n != 0 {
				buf = append(buf, n)
			}
			continue
		}
		buf = utf8.AppendRune(buf, r)
	}
	return string(buf)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// narrow maps letters that clients normalize (NFKC) to ASCII; 0 means that the letter disappears.
func narrow(r rune) (byte, bool) {
	switch {
	case r == 0x3002, r == 0xff0e, r == 0xff61, r == 0x2024, r == 0xfe52: // full stops
		return '.', true
	case r >= 0xff01 && r <= 0xff5e: // full width
		return lower(byte(r - 0xff01 + '!')), true
	case r >= 0x2460 && r <= 0x2468: // circled 1 to 9
		return byte(r-0x2460) + '1', true
	case r == 0x24ea:
		return '0', true
	case r >= 0x24b6 && r <= 0x24e9: // circled letters
		return byte((r-0x24b6)%26) + 'a', true
	case r >= 0x1d400 && r < 0x1d6a4: // mathematical letters, 13 alphabets of 52
		return byte((r-0x1d400)%26) + 'a', true
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return byte((r-0x1d7ce)%10) + '0', true
	case r == 0x2070, r >= 0x2074 && r <= 0x2079:
		return byte(r-0x2070) + '0', true
	case r >= 0x2080 && r <= 0x2089:
		return byte(r-0x2080) + '0', true
	case r == 0xb9:
		return '1', true
	case r == 0xb2, r == 0xb3:
		return byte(r-0xb2) + '2', true
	case r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064, r == 0xfeff,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe007f:
		return 0, true // invisible
	}
	return 0, false
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// address parses an IP address in any notation that clients accept.
func (i *Info) address(h string) (netip.Addr, bool) {
	if strings.IndexByte(h, ':') >= 0 {
		addr, err := netip.ParseAddr(h)
		if err != nil {
			return netip.Addr{}, false
		}
		if inner, ok := embedded(addr); ok {
			i.Flags |= Disguised
			return inner, true
		}
		return addr.WithZone(""), true
	}
	last := h[strings.LastIndexByte(h, '.')+1:]
	if !numeric(last) {
		return netip.Addr{}, false
	}
	if addr, err := netip.ParseAddr(h); err == nil {
		return addr, true
	}
	// As inet_aton does: one to four parts in decimal, octal or hex, the last one filling the rest.
	// What ends in a number and is no address is no host.
	i.Flags |= Disguised
	var parts [4]uint64
	n := 0
	for part := range strings.SplitSeq(h, ".") {
		v, ok := number(part)
		if n == 4 || !ok {
			i.Flags |= Malformed
			return netip.Addr{}, false
		}
		parts[n] = v
		n++
	}
	var v uint64
	for j := range n - 1 {
		if parts[j] > 255 {
			i.Flags |= Malformed // some clients keep the low byte
		}
		v |= (parts[j] & 255) << (24 - 8*j)
	}
	room := uint64(1)<<(8*(5-n)) - 1
	if parts[n-1] > room {
		i.Flags |= Malformed
	}
	v |= parts[n-1] & room
	return addr4(uint32(v)), true
}

// addr4 returns the IPv4 address with a number.
func addr4(v uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// numeric reports whether a label is a number, as clients read it.
func numeric(s string) bool {
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		return strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
	}
	return s != "" && leadingDigits(s) == len(s)
}

// leadingDigits returns the number of digits that a text begins with.
func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// number parses decimal, octal (0…) or hex (0x…). Too large numbers wrap, as in clients that accept
// them.
func number(s string) (uint64, bool) {
	base := uint64(10)
	switch {
	case len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	case s == "":
		return 0, false
	}
	var v uint64
	for j := 0; j < len(s); j++ {
		d := unhex(s[j])
		if d < 0 || uint64(d) >= base {
			return 0, false
		}
		v = v*base + uint64(d)
	}
	return v, true
}

// embedded returns the IPv4 address inside an IPv6 one: mapped, compatible, NAT64, 6to4, and similar
// forms that end in it.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if a.Is4() {
		return a, false
	}
	b := a.As16()
	zero := func(from, to int) bool { return strings.Trim(string(b[from:to]), "\x00") == "" }
	last := netip.AddrFrom4([4]byte(b[12:]))
	switch {
	case a.Is4In6():
		return last, true
	case zero(0, 12) && !zero(12, 14): // ::a.b.c.d, but not ::1 and ::
		return last, true
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b:
		return last, true
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case zero(0, 8) && b[8] == 0xff && b[9] == 0xff && zero(10, 12): // SIIT
		return last, true
	}
	return netip.Addr{}, false
}

// metadataAddrs are the addresses of metadata services.
var metadataAddrs = parsed(netip.MustParseAddr, `169.254.169.254 169.254.170.2 169.254.170.23 fd00:ec2::254
	fd00:ec2::23 100.100.100.200 168.63.129.16 169.254.0.23 169.254.10.10 192.0.0.192 fd20:ce::254 fe80::a9fe:a9fe
	169.254.42.42 fd00:42::42`)

// internalNets are networks that are not public, besides those that package netip knows.
var internalNets = parsed(netip.MustParsePrefix, "100.64.0.0/10 192.0.0.0/24 198.18.0.0/15 240.0.0.0/4 fec0::/10")

func parsed[T any](parse func(string) T, words string) (out []T) {
	for word := range strings.FieldsSeq(words) {
		out = append(out, parse(word))
	}
	return out
}

// classOf returns the flags of an address range.
func classOf(a netip.Addr) Flags {
	a = a.WithZone("")
	switch {
	case slices.Contains(metadataAddrs, a):
		return Metadata | Internal
	case a.IsLoopback(), a.IsUnspecified(), a.Is4() && a.As4()[0] == 0:
		return Loopback
	case a.IsPrivate(), a.IsLinkLocalUnicast(), a.IsMulticast(), a.IsInterfaceLocalMulticast():
		return Internal
	case slices.ContainsFunc(internalNets, func(n netip.Prefix) bool { return n.Contains(a) }):
		return Internal
	}
	return 0
}
