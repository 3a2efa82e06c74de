# bash completion for barry
_barry() {
  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local path="" words="" at word
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="${COMP_WORDS[at]}"
    [[ "$word" == "--" ]] && return
    [[ "$word" == -* ]] && continue
    if [[ -z "$path" ]]; then path="$word"
    elif [[ "$path" =~ ^(adapter|bound|session)$ ]]; then path="$path $word"; fi
  done
  case "$before" in
    --cwd|--plugin-dir|--root) compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")); return ;;
  esac
  case "$path" in
    "") words="adapter bound completion doctor man session --version --help" ;;
    "adapter") words="add check doctor list models remove show verify --help" ;;
    "adapter add") words="--no-vet --yes --json --help" ;;
    "adapter check") words="--json --help" ;;
    "adapter doctor") words="--json --help" ;;
    "adapter list") words="--json --help" ;;
    "adapter models") words="--json --help" ;;
    "adapter remove") words="--json --help" ;;
    "adapter show") words="--json --help" ;;
    "adapter verify") words="--mode --json --help" ;;
    "bound") words="audit check explain list merge schema show validate --help" ;;
    "bound audit") words="--bound --trait --harness --cwd --json --help" ;;
    "bound check") words="--bound --trait --harness --cwd --command --tool --input --stdin --json --help" ;;
    "bound explain") words="--bound --trait --harness --cwd --command --tool --input --json --help" ;;
    "bound list") words="--json --help" ;;
    "bound merge") words="--json --help" ;;
    "bound schema") words="--json --help" ;;
    "bound show") words="--bound --trait --harness --mode --cwd --json --help" ;;
    "bound validate") words="--strict --json --help" ;;
    "completion") words="--help" ;;
    "doctor") words="--json --help" ;;
    "man") words="--help" ;;
    "session") words="events export fork interrupt launch list prune resume send show start stop --help" ;;
    "session events") words="--follow --after --json --help" ;;
    "session export") words="--output --json --help" ;;
    "session fork") words="--file --model --deny-tool --bound --allow-unverified-build --schema --max-turns --timeout --json --help" ;;
    "session interrupt") words="--json --help" ;;
    "session launch") words="--mode --model --cwd --root --env --option --plugin-dir --deny-tool --bound --trait --relax --require --allow-unverified-build --resume --last --pick --dry-run --supervise --json --help" ;;
    "session list") words="--json --help" ;;
    "session prune") words="--older-than --keep --dry-run --json --help" ;;
    "session resume") words="--file --mode --model --root --env --option --plugin-dir --deny-tool --bound --trait --relax --require --allow-unverified-build --dry-run --supervise --schema --max-turns --timeout --json --help" ;;
    "session send") words="--from --steer --wait --timeout --id --json --help" ;;
    "session show") words="--json --help" ;;
    "session start") words="--file --model --cwd --root --env --option --plugin-dir --deny-tool --bound --trait --relax --require --allow-unverified-build --resume --fork --schema --max-turns --timeout --fallback --json --help" ;;
    "session stop") words="--json --help" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _barry barry
