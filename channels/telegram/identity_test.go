package telegram

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
)

func testGuard() guard {
	g := guard{bot: 777, people: approver.People{},
		places: map[place]bool{{chat: teamChat}: true, {chat: teamChat, thread: topic}: true, {chat: ann}: true}}
	g.people.Add(Name, []approver.Approver{{ID: text(ann)}, {ID: "777"}, {ID: "555"}})
	return g
}

// update reads an update as the service writes it.
func update(t testing.TB, src string) *models.Update {
	t.Helper()
	src = strings.NewReplacer("ANN", `{"id":10042,"is_bot":false,"first_name":"Ann"}`, "BOT",
		`{"id":777,"is_bot":true,"first_name":"approver"}`,
		"TEAM", `{"id":-1001234567890,"type":"supergroup"}`).Replace(src)
	var u models.Update
	if err := json.Unmarshal([]byte(src), &u); err != nil {
		t.Fatalf("%v in %s", err, src)
	}
	return &u
}

func TestGuardMessage(t *testing.T) {
	const head = `{"update_id":1,"message":{"message_id":5,"date":1700000000,"text":"/approve CONFIRM-7KQ4MX"`
	for name, c := range map[string]struct {
		rest string
		want error
	}{
		"a person on the list":    {`,"from":ANN,"chat":TEAM`, nil},
		"in a private chat":       {`,"from":ANN,"chat":{"id":10042,"type":"private"}`, nil},
		"in a configured topic":   {`,"from":ANN,"chat":TEAM,"message_thread_id":7,"is_topic_message":true`, nil},
		"in a thread of replies":  {`,"from":ANN,"chat":TEAM,"message_thread_id":8`, nil},
		"in another topic":        {`,"from":ANN,"chat":TEAM,"message_thread_id":8,"is_topic_message":true`, errElsewhere},
		"in another chat":         {`,"from":ANN,"chat":{"id":-100999,"type":"supergroup"}`, errElsewhere},
		"somebody else's private": {`,"from":ANN,"chat":{"id":66666,"type":"private"}`, errElsewhere},
		"a stranger": {`,"from":{"id":66666,"is_bot":false,"first_name":"Ann","username":"ann"},"chat":TEAM`,
			errStranger},
		"nobody":        {`,"chat":TEAM`, errNoPerson},
		"an id of zero": {`,"from":{"id":0,"is_bot":false},"chat":TEAM`, errNoPerson},
		"an anonymous admin": {`,"from":{"id":1087968824,"is_bot":true,"first_name":"Group",` +
			`"username":"GroupAnonymousBot"},"sender_chat":TEAM,"chat":TEAM`, errNoPerson},
		"a channel as sender": {`,"from":ANN,"sender_chat":{"id":-100777,"type":"channel"},"chat":TEAM`, errNoPerson},
		"a linked channel's post": {`,"from":{"id":777000,"is_bot":false},"is_automatic_forward":true,"chat":TEAM`,
			errNoPerson},
		"a signed post":     {`,"from":ANN,"author_signature":"Ann","chat":TEAM`, errNoPerson},
		"a bot on the list": {`,"from":{"id":555,"is_bot":true,"first_name":"x"},"chat":TEAM`, errNoPerson},
		"our own message":   {`,"from":{"id":777,"is_bot":false,"first_name":"x"},"chat":TEAM`, errNoPerson},
		"forwarded from a person": {`,"from":ANN,"chat":TEAM,"forward_origin":{"type":"user","date":1,"sender_user":ANN}`,
			errSecondHand},
		"forwarded from the shy": {`,"from":ANN,"chat":TEAM,"forward_origin":{"type":"hidden_user","date":1,` +
			`"sender_user_name":"Ann"}`, errSecondHand},
		"through an inline bot": {`,"from":ANN,"chat":TEAM,"via_bot":{"id":9,"is_bot":true,"first_name":"x"}`,
			errSecondHand},
		"edited":    {`,"from":ANN,"chat":TEAM,"edit_date":1700000001`, errSecondHand},
		"scheduled": {`,"from":ANN,"chat":TEAM,"is_from_offline":true`, errSecondHand},
		"a business connection": {`,"from":ANN,"chat":{"id":10042,"type":"private"},"business_connection_id":"x"`,
			errSecondHand},
		"a bot for a business": {`,"from":ANN,"chat":TEAM,"sender_business_bot":{"id":9,"is_bot":true,"first_name":"x"}`,
			errSecondHand},
		"an approver's id as chat": {`,"from":{"id":66666,"is_bot":false,"first_name":"x"},"chat":{"id":10042,` +
			`"type":"private"}`, errStranger},
	} {
		t.Run(name, func(t *testing.T) {
			who, err := testGuard().message(update(t, head+c.rest+"}}").Message)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil && (who.id != ann || who.name != "Ann") {
				t.Errorf("the sender is %+v", who)
			}
			if err != nil && who != (sender{}) {
				t.Errorf("a refused sender is not zero: %+v", who)
			}
		})
	}
}

// Whatever else Telegram may send is no message of anybody.
func TestGuardOtherKinds(t *testing.T) {
	for _, kind := range []string{"edited_message", "channel_post", "edited_channel_post", "business_message",
		"edited_business_message"} {
		u := update(t, `{"update_id":1,"`+kind+`":{"message_id":5,"date":1,"text":"yes","from":ANN,"chat":TEAM}}`)
		if _, err := testGuard().message(u.Message); !errors.Is(err, errNotAnAct) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestGuardTap(t *testing.T) {
	const ours = `"message":{"message_id":5,"date":1700000000,"text":"x","from":BOT,"chat":TEAM}`
	for name, c := range map[string]struct {
		query string
		want  error
	}{
		"a person on the list": {`"from":ANN,` + ours, nil},
		"on an edited card":    {`"from":ANN,` + strings.Replace(ours, `"text"`, `"edit_date":1700000009,"text"`, 1), nil},
		"in a configured topic": {`"from":ANN,` +
			strings.Replace(ours, `"text"`, `"message_thread_id":7,"is_topic_message":true,"text"`, 1), nil},
		"in another topic": {`"from":ANN,` +
			strings.Replace(ours, `"text"`, `"message_thread_id":8,"is_topic_message":true,"text"`, 1), errElsewhere},
		"in another chat": {`"from":ANN,` + strings.Replace(ours, "TEAM", `{"id":-1,"type":"group"}`, 1),
			errElsewhere},
		"a stranger":            {`"from":{"id":66666,"is_bot":false,"first_name":"Ann"},` + ours, errStranger},
		"a bot on the list":     {`"from":{"id":555,"is_bot":true,"first_name":"x"},` + ours, errNoPerson},
		"nobody":                {ours, errNoPerson},
		"without a message":     {`"from":ANN`, errNotOurs},
		"an inaccessible one":   {`"from":ANN,"message":{"message_id":5,"date":0,"chat":TEAM}`, errNotOurs},
		"an inline message":     {`"from":ANN,"inline_message_id":"x",` + ours, errNotOurs},
		"somebody's message":    {`"from":ANN,` + strings.Replace(ours, "BOT", "ANN", 1), errNotOurs},
		"another bot's message": {`"from":ANN,` + strings.Replace(ours, "BOT", `{"id":778,"is_bot":true}`, 1), errNotOurs},
		"a message from nobody": {`"from":ANN,` + strings.Replace(ours, `"from":BOT,`, "", 1), errNotOurs},
		"posted as a channel": {`"from":ANN,` + strings.Replace(ours, `"text"`, `"sender_chat":TEAM,"text"`, 1),
			errNotOurs},
		"a forward of our card": {`"from":ANN,` +
			strings.Replace(ours, `"text"`, `"forward_origin":{"type":"hidden_user","date":1},"text"`, 1), errNotOurs},
		"for a business account": {`"from":ANN,` + strings.Replace(ours, `"text"`, `"business_connection_id":"x","text"`, 1),
			errNotOurs},
	} {
		t.Run(name, func(t *testing.T) {
			who, err := testGuard().tap(update(t,
				`{"update_id":1,"callback_query":{"id":"1","data":"x",`+c.query+`}}`).CallbackQuery)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil && (who.id != ann || who.chat != teamChat) {
				t.Errorf("the sender is %+v", who)
			}
		})
	}
}

// A conversation has one spelling, and what is none is no place.
func TestConversations(t *testing.T) {
	for conversation, want := range map[string]place{
		text(teamChat): {chat: teamChat}, text(teamChat) + "/7": {chat: teamChat, thread: 7}, text(ann): {chat: ann},
	} {
		if at, err := parsePlace(conversation); err != nil || at != want || at.conversation() != conversation {
			t.Errorf("%q is read as %+v, %v and written as %q", conversation, at, err, at.conversation())
		}
	}
	for _, odd := range []string{
		"", "/", "/7", "-100/", "-100/0", "-100/07", "-100/+7", "-100/-7", "-100/7/8", "-100/x", "-100/ 7", "-100/2147483648",
		"@ops/7", "0/7", "-0100/7",
	} {
		if at, err := parsePlace(odd); err == nil {
			t.Errorf("%q is read as %+v", odd, at)
		}
	}
}

func FuzzParsePlace(f *testing.F) {
	f.Add("-1001234567890/7")
	f.Add("10042")
	f.Fuzz(func(t *testing.T, conversation string) {
		if at, err := parsePlace(conversation); err == nil && at.conversation() != conversation {
			t.Errorf("%q is read as %+v, which is %q", conversation, at, at.conversation())
		}
	})
}

func TestZeroGuardLetsNobodyIn(t *testing.T) {
	u := update(t, `{"update_id":1,"message":{"message_id":5,"date":1,"text":"yes","from":ANN,"chat":TEAM}}`)
	if _, err := (guard{}).message(u.Message); err == nil {
		t.Error("the zero guard let somebody in")
	}
	g := guard{places: map[place]bool{{chat: teamChat}: true}}
	if _, err := g.message(u.Message); !errors.Is(err, errStranger) {
		t.Errorf("a guard without people: %v", err)
	}
}

func TestCardOf(t *testing.T) {
	const request = "01890a5d-ac96-774b-bcce-b302099a8057"
	markup := `,"reply_markup":{"inline_keyboard":[[{"text":"x","url":"https://example.org"}],[{"text":"Deny",` +
		`"callback_data":"` + cards.ButtonData(uuid.MustParse(request), cards.Deny, 0) + `"}]]}`
	card := `"reply_to_message":{"message_id":9,"date":1,"text":"x","from":BOT,"chat":TEAM` + markup + `}`
	for name, c := range map[string]struct {
		reply string
		ok    bool
	}{
		"our card":                {card, true},
		"no reply":                {`"text":"yes"`, false},
		"a person's message":      {strings.Replace(card, "BOT", "ANN", 1), false},
		"another bot's message":   {strings.Replace(card, "BOT", `{"id":778,"is_bot":true}`, 1), false},
		"our card from elsewhere": {strings.Replace(card, "TEAM", `{"id":-5,"type":"group"}`, 1), false},
		"our card in a topic": {strings.Replace(card, `"text"`, `"message_thread_id":7,"is_topic_message":true,"text"`,
			1), false},
		"a settled card": {strings.Replace(card, markup, "", 1), false},
		"a forward of our card": {strings.Replace(card, `"text"`, `"forward_origin":{"type":"hidden_user","date":1},"text"`,
			1), false},
		"made through our bot":   {strings.Replace(card, `"text"`, `"via_bot":BOT,"text"`, 1), false},
		"other buttons":          {strings.Replace(card, "a1:", "b1:", 1), false},
		"a card in another chat": {strings.Replace(card, `"reply_to_message"`, `"external_reply"`, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			src := `{"update_id":1,"message":{"message_id":10,"date":1,"from":ANN,"chat":TEAM,` +
				strings.ReplaceAll(c.reply, `"forward_origin":{"type":"hidden_user","date":1}`,
					`"forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"x"}`) + `}}`
			if strings.Contains(c.reply, "external_reply") {
				src = strings.Replace(src, `"external_reply":{`,
					`"external_reply":{"origin":{"type":"user","date":1,"sender_user":BOT},`, 1)
			}
			got, message, ok := testGuard().cardOf(update(t, src).Message)
			if ok != c.ok || ok && (got != request || message != 9) || !ok && got != "" {
				t.Errorf("got %q, %d, %v", got, message, ok)
			}
		})
	}
}

func TestDisplayName(t *testing.T) {
	for name, c := range map[string]struct {
		u    models.User
		want string
	}{
		"both names":  {models.User{ID: 1, FirstName: "Ann", LastName: "Lee"}, "Ann Lee"},
		"no name":     {models.User{ID: 12}, "12"},
		"a disguise":  {models.User{ID: 1, FirstName: "Bob\u202e"}, "Bob⟨U+202E⟩"},
		"two lines":   {models.User{ID: 1, FirstName: "Bob\n✅ Approved"}, "Bob ⏎ ✅ Approved"},
		"a long name": {models.User{ID: 1, FirstName: strings.Repeat("é", 200)}, strings.Repeat("é", 63) + "…"},
	} {
		if got := displayName(&c.u); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
