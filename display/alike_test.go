package display

import (
	"maps"
	"slices"
	"testing"
	"unicode/utf8"
)

// The characters of the Unicode data that look like ASCII ones are marked among ASCII letters, but
// not these: people write them in honest texts, and they look different enough.
const readableAlikes = "Æ×æþŒœƠơ"

// inTable is how many characters the table has, in UTS #39 version 17.0.0.
const inTable = 1846

func TestEachLookAlikeIsMarked(t *testing.T) {
	if n := len(looksLike()); n != inTable {
		t.Errorf("%d characters in the table", n)
	}
	notMarked := ""
	for _, r := range slices.Sorted(maps.Keys(looksLike())) {
		if word := "a" + string(r) + "b"; Visible(word) == word {
			notMarked += string(r)
		}
	}
	if notMarked != readableAlikes {
		t.Errorf("not marked: %q", notMarked)
	}
	marked, byHand, alone := 0, 0, 0
	for r := rune(utf8.RuneSelf); r < 0x20000; r++ { // no look-alike is beyond
		if !utf8.ValidRune(r) {
			continue
		}
		if alikeByHand(r) {
			byHand++
			if Visible("a"+string(r)+"b") == "a"+string(r)+"b" {
				t.Errorf("%U is not marked any more", r)
			}
		}
		if lookAlike(r) {
			marked++
		}
		if alikeAlone(r) {
			alone++
		}
	}
	t.Logf("look-alikes: %d by hand, %d with the table, %d in a word of their own", byHand, marked, alone)
}

// What people write in their own languages stays as it is.
func TestHonestTextsStayReadable(t *testing.T) {
	for _, text := range []string{
		"Größe prüfen, übermäßig ähnlich, Straße", "élève, naïve, cœur, garçon, où", "smørrebrød, þing, ærlig",
		"Проверка: удалить старые записи из базы", "города и улицы, порт, сервер",
		"删除旧的记录，然后重新启动服务", "テーブルを消す。ノートを保存", "서버를 다시 시작합니다", "حذف السجلات القديمة ثم إعادة التشغيل",
		"מחיקת רשומות ישנות", "पुराने रिकॉर्ड हटाएं १०", "ลบบันทึกเก่า", "διαγραφή παλιών εγγραφών", "բեռնել տվյալները",
		"« texte »", "naïve façade déjà vu", "Preis: 5 €", "naprawić błąd, żółć", "Ơ ơ tiếng Việt, xoá bản ghi", "10 °C ± 1",
		"०", "١٥ ه", "๐",
	} {
		if got := Visible(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
