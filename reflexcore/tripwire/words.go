package tripwire

import (
	"strings"
	"unicode/utf8"
)

// A slot is what a word can be in an instruction to a model. Slots add up.
type slot uint64

const (
	override  slot = 1 << iota // ignore, forget
	prior                      // previous, above
	all                        // all, everything
	your                       // you, your
	system                     // system, initial, hidden
	instr                      // instructions, prompt
	rule                       // rules, limits, ethics
	not                        // no, without, never
	follow                     // follow, obey
	reveal                     // print, reveal
	act                        // act, pretend
	now                        // now, from here on
	model                      // AI, assistant, the names of models and agents
	mode                       // mode, persona
	modeKind                   // developer, god, jailbreak
	free                       // unrestricted, amoral
	user                       // the user, the human
	tell                       // tell, inform
	must                       // must, always, immediately
	run                        // run, execute
	send                       // send, upload
	secret                     // password, key, conversation
	address                    // a URL or an e-mail address
	copies                     // copy, insert, spread
	this                       // this, these
	file                       // file, reply
	approved                   // approved, authorised
	boss                       // security, administrator, owner
	skip                       // skip, bypass
	confirm                    // confirmation, review
	harm                       // bomb, malware
	make                       // make, synthesise
	illegal                    // illegal, unethical
	values                     // constitution, safety, guardrails
	change                     // modify, rewrite
	silently                   // secretly
	before                     // before
	respond                    // respond, answer
	character                  // character, role
	refuse                     // refuse, apologise
	are                        // are, is: you are
	comment                    // text that is not shown: a comment, hidden by its style
	markup                     // the markup between the turns of a conversation
	heading                    // SYSTEM:, NEW INSTRUCTIONS:
	fresh                      // new
	anything                   // anything
	stop                       // stop, cease
	to                         // to
	team                       // team
	forgets                    // ignore, forget: of override, what is said of words only
	entire                     // everything
	bounds                     // limits, ethics, censorship: of rule, what is said of people and models
	frees                      // free of
	how                        // how to, a recipe
	topic                      // injection, attack: the text is about the subject
	does                       // do
	stay                       // stay, break
	void                       // void, suspended
	says                       // tell, list, write: a weak reveal
)

// lexicon is the vocabulary: a slot, then words. One that ends in * stands for
// all that begin so. Accents are left out, scripts other than Latin stay.
//
//nolint:misspell // words of eight languages
var lexicon = []struct {
	slot  slot
	words string
}{
	{override, `ignore ignores ignored ignoring ignorer ignorez ignora ignorar ignorad ignoren ignori ignorate ignorieren ignoriere ignoriert disregard* forget forgets forgetting overrid* override bypass* neglect
		vergiss vergesse vergessen missachte* ueberschreibe uberschreibe olvida* descarta* omite omitas oublie* negligez neglige esqueca* esquece* desconsider* despreze* dimentica* trascura* ometti tralascia*
		игнорир* проигнорир* забудь* забыть забуд* отбрось* пренебре* 忽略 无视 忘记 忘掉 忽視 無視 不理会 override supersede* abandon disobey`},
	{forgets, `ignore ignores ignored ignoring ignorer ignorez ignora ignorar ignorad ignoren ignori ignorate ignorieren ignoriere ignoriert disregard* forget neglect vergiss vergesse vergessen missachte* olvida* oublie* oubliez negligez esqueca* esquece* desconsider* dimentica* игнорир* проигнорир* забудь* забыть забуд* пренебре* 忽略 无视 忘记 忘掉 忽視 無視 不理会`},
	{entire, `everything alles todo tout tudo tutto всё все 一切 所有`},
	{prior, `previous previously prior above earlier preceding foregoing former heretofore precedent* anteriores anterior anteriormente precedente* precedemment vorherig* vorig* bisherig* obig* oben vorangegangen* frueher* fruher* previas previa previos previo dessus
		предыдущ* прежн* выше ранее 之前 以前 先前 上面 以上 前面 此前 上述`},
	{all, `all any every everything each entire toutes tous tout toda todas todo todos tutte tutti tutto alle alles allen jede jegliche samtlich* все всё всех всем любые 所有 一切 全部 任何`},
	{your, `you your youre yours yourself u ur du dein deine deinen deiner deines dich dir sie ihre ihren tu tus su sus te usted vos votre vous ton ta tes seu seus sua suas voce vuestro tuo tuoi tue tua ты тебя твой твои твоих ваш ваши вы вас 你 你的 您 您的`},
	{system, `system initial original developer hidden secret secretas secretos secretes segrete geheim* versteckt* ocultas ocultos cachees internal sistema systeme sistem* систем* исходн* 系统 初始 原始 隐藏 内部`},
	{instr, `instruction instructions instruct prompt prompts guideline guidelines preprompt anweisung* instruktion* vorgabe* instruccion* indicacion* consigne* instrucao instrucoes instru*oes istruzion* direttiv* direktiv* direttive directriz directrices diretriz* инструкц* указан* промпт* директив* 指令 指示 提示词 提示 说明 命令`},
	{rule, `rule rules command commands orders directive directives constraint constraints restriction* limitation limitations limits policy policies programming training safeguard* guardrail* filter filters filtering ethics ethic ethical ethically moral morals morality morally censorship censored law laws legality boundaries boundary inhibition* regulation* regel regeln beschrankung* einschrankung* richtlinie* reglas regla restriccion* normas norma limites regles regle contraintes regras regra restricoes regole regola restrizion* vincoli limiti правил* ограничен* 规则 限制 约束 规定 道德 审查`},
	{bounds, `restriction restrictions limitation limitations safeguard* guardrail* filter filters ethics ethic ethical ethically moral morals morality morally censorship law laws legality boundary boundaries inhibition* guideline guidelines policy policies beschrankung* einschrankung* moral* restricciones limites etica restrictions contraintes ethique restricoes restrizioni ограничен* морал* этик* 限制 道德 约束`},
	{not, `no not without never none nothing beyond dont doesnt cannot cant wont isnt arent neither nor don't doesn't can't ohne nicht kein keine keinen nie niemals sin nunca sans jamais pas aucune sem nao senza non mai без не никогда нет 不 没有 不要 别 无 不受 regardless unbound unrestrained lacks lacking ignoring despite irrespective`},
	{follow, `follow follows obey obeys adhere adheres comply abide respect respects care cares fuck bound restricted constrained abides complies befolge befolgen befolgst sigas seguir sigue suis suivez suivre siga seguire segui следуй соблюда* 遵守 遵循`},
	{says, `tell give share echo write translate summarize summarise paraphrase spell encode list what provide describe explain return`},
	{reveal, `reveal print show repeat output display leak dump disclose recite expose verrate zeige wiederhole gib nenne muestra revela repite imprime dime montre revele affiche repete donne mostre mostra revele repita imprima rivela ripeti stampa dimmi покажи раскрой выведи повтори напиши 显示 透露 重复 输出 打印 泄露 告诉`},
	{act, `act acting pretend pretending roleplay role-play simulate simulating impersonate emulate behave embody become respond play playing imagine immerse spiel spiele actua finge simula comportate actuas agis comporte fais aja finja simule agisci fingi comportati играй притворись веди действуй 扮演 假装 充当 模拟 作为`},
	{now, `now henceforth onward onwards hereafter nun jetzt ab ahora maintenant desormais agora adesso ora теперь сейчас отныне 现在 从现在起 从现在开始`},
	{model, `model ia ki ai ais a.i assistant assistants llm llms chatgpt gpt gpts claude copilot gemini codex cursor agent agents chatbot bot bots assistent asistente assistente ки ии ассистент* модель модели 助手 人工智能 模型 chatbots gpt-4 gpt-3 bard llama openai grok deepseek`},
	{mode, `mode modes persona personas modus modo режим* 模式 jailbreak personality alter-ego`},
	{modeKind, `developer god dan dude sudo unrestricted evil jailbreak jailbroken jailbreaking uncensored aim stan desarrollador entwickler developpeur desenvolvedor sviluppatore разработчик* 开发者 上帝 antigpt devmode godmode`},
	{free, `unrestricted unfiltered uncensored amoral unethical unhinged jailbroken dan unmoderated lawless uncensor* unshackled liberated immoral`},
	{user, `user users human humans operator operators people person developer benutzer nutzer usuario utilisateur usuario utente пользовател* 用户`},
	{tell, `tell inform mention notify alert warn disclose report sag sage erwahne digas menciones informes dis mentionne informe diga mencione dica menzionare говори сообщай упоминай 告诉 提及 通知 提醒`},
	{must, `must should always immediately first required important mandatory need needs shall urgent critical muss musst sollst debes doit dois deve devi должен обязан 必须 应该 立即 首先 请 please`},
	{run, `run execute invoke install download curl wget eval launch fuhre ausfuhren ejecuta execute executez execute executa esegui выполни запусти 执行 运行 下载 安装`},
	{send, `send sends upload post forward transmit exfiltrate leak submit email mail sende schicke envia envie envoie envoyez manda invia отправь перешли 发送 上传 发到 转发`},
	{secret, `password passwords passwd credential credentials token tokens secrets apikey apikeys keys env environment ssh conversation wallet cookies passwort passworter zugangsdaten contrasena* claves clave credenciales mot passe senha senhas chave chaves credenziali chiavi парол* ключ* токен* 密码 密钥 凭证 环境变量`},
	{copies, `copy copies replicate propagate spread insert paste embed duplicate reproduce add append include kopiere copia copie inserisci inserte copiez скопируй вставь распростран* 复制 插入 传播`},
	{this, `this these following diese dieses diesen esta estas este ces cette ce essas esta questo queste questi эт* 这 这些 该 本 以下`},
	{file, `file files repo repos repository repositories project projects reply replies response responses email emails message messages document documents readme codebase datei dateien archivo archivos fichier fichiers arquivo arquivos файл* 文件 回复 项目 仓库 邮件`},
	{approved, `approved authorized authorised pre-approved preapproved cleared permitted sanctioned whitelisted greenlit genehmigt autorisiert freigegeben aprobado autorizado approuve autorise aprovado approvato autorizzato одобрен* разрешен* 批准 授权 同意`},
	{boss, `security admin administrator administrators owner manager management maintainer maintainers supervisor ceo cto compliance legal it sicherheitsteam chef seguridad securite seguranca sicurezza безопасност* администратор* 安全 管理员 主管`},
	{team, `team teams department dept officer lead leads equipe equipo squadra отдел* команд* 团队 部门`},
	{skip, `skip bypass without no avoid omit waive unnecessary ohne uberspringe sin salta sans passe sem pule senza salta без пропусти 跳过 无需 不需要 not dont`},
	{confirm, `confirmation confirmations approval approvals permission permissions review consent prompting ask asking confirm verification check checks bestatigung genehmigung confirmacion aprobacion confirmacao aprovacao conferma approvazione подтвержден* одобрен* 确认 审批 批准 许可`},
	{harm, `bomb bombs explosive explosives weapon weapons meth methamphetamine drug drugs ransomware malware virus poison poisons ricin anthrax napalm counterfeit keylogger phishing molotov silencer nerve-agent cocaine heroin fentanyl bombe waffe drogen bomba armas drogas bombes armes бомб* оружи* наркотик* 炸弹 武器 毒品 恶意软件`},
	{make, `make making build building synthesize synthesise create produce cook cooking manufacture construct baue herstellen fabricar hacer fabriquer costruire изготов* сделать 制造 制作 合成`},
	{illegal, `illegal immoral unethical harmful offensive toxic dangerous inappropriate hateful profanity profane obscene vulgar racist sexist nsfw explicit crime crimes criminal unlawful controversial taboo swear curse violent porn erotic sexual hate slurs insult illegally immorally unethically amoral evil malicious`},
	{values, `constitution constitutional values principles alignment safety guardrails safeguards ethics morals guidelines constraints`},
	{change, `modify change rewrite alter remove disable overwrite edit redefine turn switch deactivate`},
	{silently, `silently secretly quietly covertly discreetly stealthily heimlich secretamente secretement segretamente тайно скрытно 秘密 悄悄 偷偷`},
	{before, `before prior bevor antes avant prima перед прежде 之前 在`},
	{respond, `respond responds responding answer answers answering reply replies replying response continuing generating output outputs comply complies responde antworte reponds repondre rispondi отвечай 回答 回复`},
	{frees, `free freed liberated exempt frei libre libres livre libero`},
	{how, `how recipe guide tutorial instructions steps wie como comment come как 如何 怎么 怎样`},
	{topic, `injection injections attack attacks attacker attackers adversarial malicious untrusted phishing`},
	{does, `do does`},
	{stay, `stay remain`},
	{void, `void suspended lifted revoked obsolete cancelled canceled nullified longer invalid`},
	{character, `character role roleplay persona immersed rolle personaje personnage personagem ruolo роль 角色`},
	{refuse, `refuse refuses refusing refusal refusals apologize apologise apologizes apology sorry decline declines disclaimer disclaimers moralize moralise lecture`},
	{are, `are is am youre were bist seid eres es sois etes e sei siete являешься 是`},
	{fresh, `new updated neue neuen nueva nuevas nouvelle nouvelles nova novas nuove nuova новые новая 新 新的`},
	{anything, `anything whatever everything`},
	{stop, `stop cease quit break breaks hor deja arrete pare smetti перестань 停止`},
	{to, `to at via into zu an a para vers per на 到 至`},
}

// An entry is a word of the lexicon, or the beginning of words.
type entry struct {
	text   string
	prefix bool
	slot   slot
}

// dictionary finds words by their first three bytes.
type dictionary [1 << 12][]entry

var words = func() *dictionary {
	d := new(dictionary)
	for _, l := range lexicon {
		for w := range strings.FieldsSeq(l.words) {
			stem, prefix := strings.CutSuffix(w, "*")
			d.add(entry{stem, prefix, l.slot})
		}
	}
	return d
}()

func (d *dictionary) add(e entry) {
	list := &d[hash(e.text)]
	for i := range *list {
		if have := &(*list)[i]; have.text == e.text && have.prefix == e.prefix {
			have.slot |= e.slot
			return
		}
	}
	*list = append(*list, e)
}

// hash is of the first two bytes, which every word and stem has, or of one.
func hash(w string) int {
	if len(w) < 2 {
		return int(w[0])
	}
	return (int(w[0])*61 ^ int(w[1])*7) & (1<<12 - 1)
}

// find returns what a word can be. Words are in lower case.
func (d *dictionary) find(w []byte) (s slot) {
	if len(w) == 0 {
		return 0
	}
	var h int
	if len(w) < 2 {
		h = int(w[0])
	} else {
		h = (int(w[0])*61 ^ int(w[1])*7) & (1<<12 - 1)
	}
	for i := range d[h] {
		e := &d[h][i]
		if len(w) == len(e.text) && string(w) == e.text || e.prefix && len(w) > len(e.text) && string(w[:len(e.text)]) == e.text {
			s |= e.slot
		}
	}
	return s
}

// longest returns the longest word of the lexicon that text begins with, of at
// most most bytes, and its length.
func (d *dictionary) longest(text []byte, most int) (s slot, n int) {
	for n = min(most, len(text)); n > 0; n-- {
		if n < len(text) && !utf8.RuneStart(text[n]) {
			continue
		}
		if s = d.find(text[:n]); s != 0 {
			return s, n
		}
	}
	return 0, 0
}
