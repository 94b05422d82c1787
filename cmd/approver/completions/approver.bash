_approver() {
  local path= word i next words
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$word" in -*) continue ;; esac
    next="${path:+$path }$word"
    case "$next" in
#paths
    esac
  done
  case "$path" in
#words
  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _approver approver
