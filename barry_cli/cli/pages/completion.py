"""Completions as static files: a TAB starts no Python."""

from __future__ import annotations

from barry_cli.cli.pages.tree import Verb

SHELLS = ("bash", "zsh", "fish")
FILES = {"bash": "barry.bash", "zsh": "_barry", "fish": "barry.fish"}


def completion(shell: str, top: Verb) -> str:
    """The completion file of a shell. Raises KeyError for another shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](top)


def _names(verb: Verb) -> list[str]:
    return [name for flag in verb.flags for name in flag.names if name.startswith("--")]


def _folders(verb: Verb) -> list[str]:
    return [name for flag in verb.flags if flag.value == "D" for name in flag.names]


def _bash(top: Verb) -> str:
    cases, folders = [], set()
    for verb in top.walk():
        path = " ".join(verb.words[1:])
        words = " ".join([*(each.words[-1] for each in verb.verbs), *_names(verb)])
        cases.append(f'    "{path}") words="{words}" ;;')
        folders |= set(_folders(verb))
    groups = "|".join(verb.words[-1] for verb in top.verbs if verb.verbs)
    return "\n".join(
        [
            "# bash completion for barry",
            "_barry() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            '  local path="" words="" at word',
            "  COMPREPLY=()",
            "  for ((at = 1; at < COMP_CWORD; at++)); do",
            '    word="${COMP_WORDS[at]}"',
            '    [[ "$word" == "--" ]] && return',
            '    [[ "$word" == -* ]] && continue',
            '    if [[ -z "$path" ]]; then path="$word"',
            f'    elif [[ "$path" =~ ^({groups})$ ]]; then path="$path $word"; fi',
            "  done",
            '  case "$before" in',
            (
                f"    {'|'.join(sorted(folders))}) compopt -o nospace 2>/dev/null;"
                ' COMPREPLY=($(compgen -d -- "$current")); return ;;'
            ),
            "  esac",
            '  case "$path" in',
            *cases,
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            '  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))',
            "}",
            "complete -F _barry barry",
            "",
        ]
    )


def _quoted(text: str) -> str:
    return text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " -")


def _zsh(top: Verb) -> str:
    lines = ["#compdef barry", "# zsh completion for barry", ""]
    for verb in top.walk():
        name = "_" + "_".join(verb.words)
        lines.append(f"{name}() {{")
        arguments = [
            f"'{'*' if flag.repeats else ''}{spelt}[{_quoted(flag.help)}]"
            + (
                f":{_quoted(flag.value)}:{'_files -/' if flag.value == 'D' else ''}'"
                if flag.value
                else "'"
            )
            for flag in verb.flags
            for spelt in flag.names
        ]
        if verb.verbs:
            lines.append("  local -a verbs=(")
            lines += [f"    '{each.words[-1]}:{_quoted(each.help)}'" for each in verb.verbs]
            lines.append("  )")
            arguments += ["'1:verb:->verb'", "'*::word:->word'"]
        else:
            arguments.append("'*:word:_files'")
        lines.append("  local state line")
        lines.append("  _arguments -C \\")
        lines += [f"    {argument} \\" for argument in arguments[:-1]]
        lines.append(f"    {arguments[-1]}")
        if verb.verbs:
            lines += [
                "  case $state in",
                "    verb) _describe verb verbs ;;",
                f"    word) (( $+functions[{name}_$line[1]] )) && {name}_$line[1] ;;",
                "  esac",
            ]
        lines += ["}", ""]
    lines += ['_barry "$@"', ""]
    return "\n".join(lines)


def _fish(top: Verb) -> str:
    lines = ["# fish completion for barry", "complete -c barry -f"]
    groups = [verb for verb in top.verbs if verb.verbs]
    firsts = " ".join(verb.words[-1] for verb in top.verbs)
    lines += [
        f"complete -c barry -n 'not __fish_seen_subcommand_from {firsts}' "
        f"-a {verb.words[-1]} -d '{_quoted(verb.help)}'"
        for verb in top.verbs
    ]
    for group in groups:
        seconds = " ".join(verb.words[-1] for verb in group.verbs)
        lines += [
            f"complete -c barry -n '__fish_seen_subcommand_from {group.words[-1]}; "
            f"and not __fish_seen_subcommand_from {seconds}' "
            f"-a {verb.words[-1]} -d '{_quoted(verb.help)}'"
            for verb in group.verbs
        ]
    for verb in top.walk():
        if verb.verbs or len(verb.words) < 2:
            continue
        where = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in verb.words[1:])
        for flag in verb.flags:
            for name in flag.names:
                spelt = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                takes = " -r" if flag.value else ""
                takes += " -a '(__fish_complete_directories)'" if flag.value == "D" else ""
                lines.append(
                    f"complete -c barry -n '{where}' {spelt}{takes} -d '{_quoted(flag.help)}'"
                )
    return "\n".join([*lines, ""])
