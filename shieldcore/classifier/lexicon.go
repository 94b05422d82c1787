package classifier

import "strings"

// lexicon has a row for each group of words with one meaning, in several languages.
// So the model learns one weight for all of them. A word is in one row only; the first
// word of a row names it. Words are written as the reader yields them: folded, in lower
// case, without apostrophes.
//
//nolint:misspell // the words are of many languages
var lexicon = [...]string{
	`ignore ignores ignored ignoring disregard disregards disregarded disregarding forget forgets forgetting forgot
override overrides overrule neglect bypass bypassing circumvent overlook supersede supersedes superseded discard
unlearn ignoriere ignorieren ignorier vergiss vergessen missachte ignorez ignorer oubliez oublie ignora ignorad
ignorar olvida olvide olvidar dimentica ignorare esqueca ignoriert negeer vergeet игнорируй игнорируйте забудь
забудьте zignoruj zapomnij`,
	`previous prior above preceding earlier before past former foregoing initial original existing old first
precedentes precedente anteriores anterior vorherigen vorherige bisherigen bisherige obigen obige alle
precedents precedentes previas previos precedenti vorige eerdere предыдущие предыдущих poprzednie`,
	`instructions instruction instructed directive directives guideline guidelines order orders command commands rule
rules policy policies constraint constraints restriction restrictions restrict directions guidance programming
guardrail guardrails safeguard safeguards limitation limitations protocol protocols anweisung anweisungen
befehle regeln vorgaben consigne consignes regles instrucciones instruccion ordenes reglas istruzioni regole
instrucoes regras instructies инструкции инструкций правила instrukcje`,
	`prompt prompts preprompt systemprompt`,
	`all any every everything anything everyone whatever todas todos todo toutes tous tout alles tutte tutti все`,
	`system developer developers admin administrator root operator sysadmin maintainer openai anthropic microsoft
google`,
	`ai llm llms chatgpt gpt gpt3 gpt4 gpta gpte assistant assistants chatbot bot claude gemini bard llama copilot
model models agi clyde assistent asistente assistente ki ia`,
	`agent agents subagent`,
	`password passwords passphrase credential credentials secret secrets cookie cookies passwort contrasena passwd
apikey apikeys creds ssh keychain wallet seed mnemonic`,
	`token tokens key keys env environment variables`,
	`send sends sending forward forwards email emails mail upload uploads transmit exfiltrate leak deliver submit
post curl wget webhook sende envoyez envoie envia invia enviar отправь`,
	`reveal reveals show print repeat output display disclose expose list dump echo leaking recite summarize verbatim
translate zeige wiederhole montrez repete muestra repite mostra`,
	`now henceforth onward onwards nun jetzt maintenant ahora adesso agora`,
	`pretend pretends pretending act acts acting roleplay roleplaying simulate simulates imagine behave impersonate
become becomes emulate emulating hypothetical fictional`,
	`persona character role characters personality identity alter ego evil twin`,
	`unrestricted unfiltered uncensored unlimited jailbroken jailbreak limitless freely dan unconstrained unbound
unmoderated liberated freed amoral unhinged godmode`,
	`illegal unethical immoral harmful dangerous malicious offensive toxic unlawful illicit unsafe inappropriate
explicit obscene vulgar nsfw derogatory hateful racist`,
	`ethical ethics moral morals morality legal legality censorship filters safety values principles alignment`,
	`not never no dont doesnt cannot cant without wont nor must'nt mustnt shouldnt nicht keine kein pas jamais` +
		`nunca non nao`,
	`refuse refuses refusing refusal decline declines apologize apologise apologies warn warning warnings disclaimer
disclaimers moralize lecture sorry reject deny`,
	`you youre your yours yourself u ur youve youll du dein deine deinen ihre vous votre vos tu tus usted seu sua`,
	`must should shall need needs required require requires have obligated mandatory obliged muss musst doit debes
deve`,
	`important urgent urgently immediately immediate critical crucial asap attention priority essential imperative` +
		`importante wichtig`,
	`secretly silently quietly hidden covertly discreetly stealthily invisibly undetected unnoticed heimlich`,
	`tell tells telling inform informing mention mentions mentioning notify notifying alert alerting acknowledge` +
		`reference told`,
	`user users human humans owner customer person people anyone anybody victim recipient`,
	`run runs running execute executes executing call invoke invoking perform performing launch launching eval`,
	`use using`,
	`confirm confirmation permission approval consent asking approved authorised authorized authorization` +
		`preauthorized verify verification`,
	`http https www com net org xyz io url link website site domain`,
	`instead rather stattdessen lugar invece`,
	`mode modus enabled activated activate enable`,
	`new updated following subsequent next neue neuen nouvelles nuevas`,
	`task tasks objective goal mission job assignment request query question aufgabe tache tarea`,
	`respond responds responding reply replies answer answers response responses say says write writing generate` +
		`antworte repondez responde`,
	`only just exactly solely exclusively simply precisely`,
	`transaction payment bank account iban bitcoin btc wire transfer transfers money dollars funds refund purchase
buy`,
	`delete deletes remove rm wipe destroy erase drop erases`,
	`code snippet block script function include incorporate append embed insert integrate`,
	`conversation chat history context messages message session dialogue`,
	`text sentence paragraph document content page article summary passage`,
	`follow follows following obey obeys comply complies adhere abide listen bound`,
	`free freedom released break broken escape rid`,
	`from here until unless end begin start beginning point`,
	`test testing debug debugging diagnostic maintenance audit emergency`,
	`safe trusted legitimate harmless benign clean`,
	`file files folder directory readme config repository repo pull`,
	`access grant permissions privileges share invite add`,
}

const lexiconSlots = 1 << 12

// byHash finds the class of a word, which is the number of its row from 1 on: the
// upper bits of its hash and the class, in the slot that the lower bits name or
// one of those after it.
var byHash = func() (t [lexiconSlots]uint32) {
	for i, row := range lexicon {
		for spelled := range strings.FieldsSeq(row) {
			r := reader{text: spelled}
			w, ok := r.next()
			if !ok || classOf(&t, w.hash) != 0 {
				continue
			}
			slot := w.hash % lexiconSlots
			for t[slot] != 0 {
				slot = (slot + 1) % lexiconSlots
			}
			t[slot] = uint32(w.hash>>40)<<8 | uint32(i+1)
		}
	}
	return t
}()

func classOf(t *[lexiconSlots]uint32, hash uint64) uint8 {
	for slot := hash % lexiconSlots; t[slot] != 0; slot = (slot + 1) % lexiconSlots {
		if t[slot]>>8 == uint32(hash>>40) {
			return uint8(t[slot])
		}
	}
	return 0
}
