package display

import "testing"

func TestMoney(t *testing.T) {
	for _, c := range []struct{ amount, currency, want string }{
		{"12000", "usd", "$120.00"}, {"5", "EUR", "€0.05"}, {"0", "usd", "$0.00"}, {"007", "gbp", "£0.07"},
		{"12000", "jpy", "¥12,000"}, {"5", "krw", "5 KRW"}, {"1234567890", "chf", "12,345,678.90 CHF"},
		{"5000", "kwd", "5.000 KWD"}, {"500", "isk", "5.00 ISK"}, {"500", "ugx", "5.00 UGX"}, {"-12000", "usd", "-$120.00"},
		{"120.50", "usd", "120.50 USD"}, {"1e5", "usd", "1e5 USD"}, {"12000", "", "12000 of the smallest coin"},
		{"", "usd", "USD"}, {"9999999999999999999", "usd", "9999999999999999999 USD"}, {"1", "u$d", "1 U$D"},
	} {
		if got := Money(c.amount, c.currency); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.amount, c.currency, got, c.want)
		}
	}
}
