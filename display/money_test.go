package display

import "testing"

func TestMoney(t *testing.T) {
	for _, c := range []struct{ amount, currency, want string }{
		{"12000", "usd", "$120.00"}, {"5", "EUR", "€0.05"}, {"0", "usd", "$0.00"}, {"007", "gbp", "£0.07"},
		{"12000", "jpy", "¥12,000"}, {"5", "krw", "5 KRW"}, {"1234567890", "chf", "12,345,678.90 CHF"},
		{"5000", "kwd", "5.000 KWD"}, {"500", "isk", "5.00 ISK"}, {"500", "ugx", "5.00 UGX"}, {"-12000", "usd", "-$120.00"},
		{"120.50", "usd", "120.50 USD"}, {"1e5", "usd", "1e5 USD"}, {"12000", "", "12000 in smallest units, such as cents"},
		{"", "usd", "USD"}, {"9999999999999999999", "usd", "9999999999999999999 USD"}, {"1", "u$d", "1 U$D"},
	} {
		if got := Money(c.amount, c.currency); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.amount, c.currency, got, c.want)
		}
	}
}

// Whether an amount counts cents is decided by the schema of the tool, not by a word in its name.
func TestAmount(t *testing.T) {
	for _, c := range []struct{ tool, key, amount, currency, want string }{
		{"mcp__stripe__create_refund", "amount", "12000", "usd", "$120.00"},
		{"mcp__stripe__create_refund", "amount", "12000", "jpy", "¥12,000"},
		{"mcp__stripe__create_refund", "amount", "12000", "", "12000 in smallest units, such as cents"},
		{"mcp__stripe__create_price", "unit_amount", "500", "eur", "€5.00"},
		{"mcp__stripe__create_price", "unit_amount_decimal", "500.5", "eur", "500.5 EUR"},
		{"mcp__my_stripe_helper__pay", "amount", "12000", "usd", "12000 USD"},
		{"mcp__stripe-reports__pay", "amount", "12000", "usd", "12000 USD"},
		{"mcp__bank__pay_with_stripe", "amount", "12000", "usd", "12000 USD"},
		{"mcp__bank__pay", "amount", "12000", "usd", "12000 USD"},
		{"mcp__bank__pay", "amount", "12000", "", "12000"},
		{"mcp__bank__pay", "amount_cents", "12000", "usd", "$120.00"},
		{"mcp__bank__pay", "amountCents", "12000", "", "12000 cents"},
		{"mcp__bank__pay", "amountMinor", "12000", "KRW", "12,000 KRW"},
		{"mcp__bank__pay", "amountUsd", "120", "", "120 USD"},
		{"mcp__bank__pay", "amount", "$120", "usd", "$120"},
	} {
		if got := Amount(c.tool, c.key, c.amount, c.currency); got != c.want {
			t.Errorf("%s %s %s %s is %q, want %q", c.tool, c.key, c.amount, c.currency, got, c.want)
		}
	}
}
