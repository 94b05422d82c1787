#!/bin/sh
# Starts approver-hook from the first of these places that has it. PATH is not searched, because a
# project can change it. Without the program, the call is blocked.
for dir in /usr/local/bin /opt/homebrew/bin /usr/bin "$HOME/.local/bin" "$HOME/bin" "$HOME/go/bin"; do
	if [ -x "$dir/approver-hook" ]; then
		exec "$dir/approver-hook" "$@"
	fi
done
why='approver-hook is not installed, so the call was stopped; put it into /usr/local/bin or ~/.local/bin, or take the plugin out: claude plugin uninstall approver@approver'
case " $* " in
*" --event PermissionRequest "*)
	printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"%s"}}}\n' "$why" ;;
*" --event Post"*)
	printf '{"systemMessage":"approver: %s"}\n' "approver-hook is not installed: what ran is not recorded"
	exit 0 ;;
*" --event ConfigChange "*)
	printf '{"decision":"block","reason":"%s"}\n' "$why" ;;
*)
	printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}\n' "$why" ;;
esac
printf '%s\n' "$why" >&2
exit 2
