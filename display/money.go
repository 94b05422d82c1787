package display

import (
	"strings"

	"approver.example/display/shape"
)

// coins has the currencies whose smallest unit is not a hundredth of them, as payment services count: the number of
// digits behind the point.
var coins = map[string]int{"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "JPY": 0, "KMF": 0, "KRW": 0, "MGA": 0, "PYG": 0,
	"RWF": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0, "BHD": 3, "JOD": 3, "KWD": 3, "OMR": 3, "TND": 3}

// symbols are written before an amount instead of a currency's code.
var symbols = map[string]string{"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}

// Money writes an amount in smallest units, such as cents, for people: 12000 of usd is $120.00. Of an amount that is
// no whole number it says what is given.
func Money(amount, currency string) string {
	digits, currency := strings.TrimPrefix(amount, "-"), strings.ToUpper(currency)
	letters := strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	switch {
	case digits == "" || len(digits) > 18 || strings.Trim(digits, "0123456789") != "" || !letters:
		return strings.TrimSpace(amount + " " + currency)
	case len(currency) != 3:
		return amount + " in smallest units, such as cents"
	}
	places, listed := coins[currency]
	if !listed {
		places = 2
	}
	digits = strings.TrimLeft(digits, "0")
	if short := places + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole, rest := digits[:len(digits)-places], digits[len(digits)-places:]
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if strings.HasPrefix(amount, "-") {
		whole = "-" + whole
	}
	if symbol := symbols[currency]; symbol != "" {
		return strings.Replace(symbol+whole, symbol+"-", "-"+symbol, 1)
	}
	return whole + " " + currency
}

// coinKeys are arguments of Stripe's calls that count in smallest units, and coinEnds are how names of arguments
// end that say so whatever the service, without _ and -.
const coinKeys = " amount unitamount amountoff amountcaptured applicationfeeamount amounttocapture "

var coinEnds = []string{"cents", "minor", "minorunits", "pence", "smallestunit"}

// Amount writes the amount of a call for people. It is in smallest units only if the schema of the tool is known to
// count so, or the argument's name says it; anything else is written as it stands there.
func Amount(tool, key, amount, currency string) string {
	key = strings.ToLower(shape.WithoutDashes(key))
	for _, end := range coinEnds {
		if strings.HasSuffix(key, end) {
			if currency == "" && end == "cents" {
				return amount + " cents"
			}
			return Money(amount, currency)
		}
	}
	if server, _ := serverTool(tool); server == "stripe" && strings.Contains(coinKeys, " "+key+" ") {
		return Money(amount, currency)
	}
	if currency == "" {
		for _, code := range []string{"usd", "eur", "gbp", "chf", "jpy"} {
			if strings.HasSuffix(key, code) {
				currency = code
			}
		}
	}
	if strings.Trim(amount, "0123456789.,-") != "" || currency == "" {
		return amount
	}
	return amount + " " + strings.ToUpper(currency)
}
