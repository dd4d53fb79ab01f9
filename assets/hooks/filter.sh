#!/bin/sh
# Hooks run in every session of the person, and a matcher cannot name an agent: only what concerns a minion goes on to
# the rails, so that nobody else pays for starting Node.

# A program starts faster where it looks for no locale.
take_input() {
  input=$(LC_ALL=C cat)
}

# Does a run of this repository name the session? Where there is no run, no program is started to know that.
owns_run() {
  at=$PWD
  until [ -e "$at/.git" ]; do
    [ "$at" ] || return 1
    at=${at%/*}
  done
  git=$at/.git
  # A linked worktree's: «gitdir: …», and in there the way to what all of them share.
  if [ -f "$git" ]; then
    read -r _ git <"$git"
    case $git in /*) ;; *) git=$at/$git ;; esac
    common=.
    [ -f "$git/commondir" ] && read -r common <"$git/commondir"
    case $common in /*) git=$common ;; *) git=$git/$common ;; esac
  fi
  [ -d "$git/minion" ] || return 1
  [ "$input" ] || take_input
  session=${input#*'"session_id":"'}
  LC_ALL=C grep -qsF "\"session\":\"${session%%'"'*}\"" "$git"/minion/r*/events.jsonl
}

# Does a shell command name minion, where its quotes and backslashes are taken out?
names_minion() {
  case $input in
  *'"command":"'*m[\'\\]*n* | *'"command":"'*mi[\'\\]*n* | *'"command":"'*min[\'\\]*n* | \
    *'"command":"'*mini[\'\\]*n* | *'"command":"'*minio[\'\\]*n*) ;;
  *) return 1 ;;
  esac
  set -f
  IFS=\'\"\\
  # shellcheck disable=SC2086 # It is to be split.
  set -- ${input#*'"command":"'}
  IFS=
  case $* in
  *minion[!A-Za-z0-9_./-]*) ;;
  *) return 1 ;;
  esac
}

input=
case $1 in
Wait | Stop | SessionStart) owns_run || exit 0 ;;
# Only in a terminal is a turn over that the rails end.
Launched)
  [ "$CLAUDE_CODE_ENTRYPOINT" = cli ] || exit 0
  owns_run || exit 0
  ;;
*)
  take_input
  # Almost every call ends at this one look, which is cheaper than the exact ones.
  case $input in
  *minion* | *'-turn limit ('* | *'stopped by '*) ;;
  *'"prompt":"<task-notification>'* | *'<agent-message from='*) ;;
  *) names_minion || exit 0 ;;
  esac
  case $input in
  *'"agent_type":"minion:'* | *'"subagent_type":"minion:'* | *'"file_path":"/tmp/minion-'*) ;;
  *'"command":"'*minion[!A-Za-z0-9_./-]*) ;;
  *'"prompt":"<task-notification>'*'-turn limit ('*) ;;
  *'"prompt":"<task-notification>'*'<status>killed<'*) ;;
  *'"prompt":"'*'ackground agent'*'stopped by the user'*) ;;
  *'<pasted_content '*'/minion'*) ;;
  *'"prompt":"<task-notification>'* | *'<agent-message from='*) owns_run || exit 0 ;;
  *) names_minion || exit 0 ;;
  esac
  ;;
esac
printf '%s' "$input" | "${0%/*}/../bin/minion" hook "$1"
