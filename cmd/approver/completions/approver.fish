function __approver_at
  set -l path
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; or set -a path $word
  end
  test "$path" = "$argv[1]"
end
