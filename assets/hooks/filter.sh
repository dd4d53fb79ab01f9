#!/bin/sh
# Hooks run in every session of the person, and a matcher cannot name an agent: only what concerns a minion goes on to
# the rails, so that nobody else pays for starting Node.
input=$(cat)
case $input in
*'"agent_type":"minion:'* | *'"subagent_type":"minion:'* | *'"command":"minion '* | *'"file_path":"/tmp/minion-'*) ;;
*'"prompt":"<task-notification>'*'-turn limit ('*) ;;
*) exit 0 ;;
esac
printf '%s' "$input" | "${0%/*}/../bin/minion" hook "$1"
