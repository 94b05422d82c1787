package shape

import (
	_ "embed" // the table
	"path"
	"strings"
)

// KnownPrograms are programs that use a credential only as its option, header or variable says,
// and an address only as such. The value lists the subcommands for which this is true, separated
// by blanks; other subcommands run somebody's code. An empty value means all.
var KnownPrograms = func() map[string]string {
	known := map[string]string{}
	for programs, subcommands := range Rows(programsText) {
		for program := range strings.SplitSeq(programs, "|") {
			known[program] = strings.TrimSpace(subcommands)
		}
	}
	return known
}()

//go:embed programs.txt
var programsText string

// Prefixes are programs and keywords that come before the program that they run.
var Prefixes = SetOf("sudo env nohup time command if then else elif while until do !")

// plainPrograms are programs that act on all of their words and take no credential.
var plainPrograms = SetOf("rm rmdir mkdir cp mv ln touch chmod chown cat ssh scp rsync find tar go pytest tail " +
	"less diff shred truncate dd kill systemctl kubectx kubens ping dig host nslookup")

// TakesOperands reports whether a program is known to act on its words.
func TakesOperands(program string) bool {
	_, known := KnownPrograms[program]
	return known || plainPrograms[path.Base(program)]
}

// AlwaysShown reports whether a variable makes other code run, or says where a command acts. People
// see it on every card, because they may not have seen an earlier card. A variable that ordinary
// tools often set, such as LESSOPEN, does not count; it is shown when it changes.
func AlwaysShown(name, value string) bool {
	if name == "NODE_OPTIONS" {
		return ContainsAny(value, []string{"-r", "--import", "loader"})
	}
	return codeVariables[name] || placeVariables[name] ||
		HasAnyPrefix(name, "LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "AWS_ENDPOINT_URL")
}

var (
	codeVariables = SetOf("GCONV_PATH BASH_ENV ENV PROMPT_COMMAND PS4 IFS PYTHONSTARTUP PYTHONHOME PERL5OPT " +
		"PERL5DB RUBYOPT LUA_INIT JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS RUSTC_WRAPPER " +
		"npm_config_script_shell PHP_INI_SCAN_DIR GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_EXTERNAL_DIFF " +
		"GIT_PROXY_COMMAND GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE")
	placeVariables = SetOf("KUBECONFIG DOCKER_HOST DOCKER_CONTEXT AWS_PROFILE AWS_DEFAULT_PROFILE " +
		"AWS_ACCESS_KEY_ID AWS_CONFIG_FILE CLOUDSDK_ACTIVE_CONFIG_NAME CLOUDSDK_CORE_PROJECT GOOGLE_CLOUD_PROJECT " +
		"GOOGLE_APPLICATION_CREDENTIALS AZURE_SUBSCRIPTION_ID ARM_SUBSCRIPTION_ID HELM_KUBECONTEXT HELM_NAMESPACE " +
		"TF_WORKSPACE PGHOST PGSERVICE PGDATABASE MYSQL_HOST VAULT_ADDR DATABASE_URL")
)
