package shape

import (
	_ "embed" // the table
	"path"
	"strings"
)

// KnownPrograms do with a credential what its option, header or variable says, and
// with an address what it says. Where subcommands are listed, only those do: the
// others run what somebody wrote.
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

// Prefixes stand before the program that they run.
var Prefixes = SetOf("sudo env nohup time command if then else elif while until do !")

// plainPrograms act on every word that they are given and take no credential.
var plainPrograms = SetOf("rm rmdir mkdir cp mv ln touch chmod chown cat ssh scp rsync find tar go pytest tail " +
	"less diff shred truncate dd kill systemctl kubectx kubens ping dig host nslookup")

// TakesOperands reports a program that acts on what it is given.
func TakesOperands(program string) bool {
	_, known := KnownPrograms[program]
	return known || plainPrograms[path.Base(program)]
}

// AlwaysShown reports a variable that makes other code run, or says where a command
// acts: people see it on every card, because they may not have seen an earlier one.
// What many have set by honest tools, such as LESSOPEN, is shown when it changes.
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
