"""Variables and options whose value is run by and by: a pager, an editor, a shell's own start."""

from barry_cli.policy.ruling.programs.call import Script, joined
from barry_cli.policy.ruling.shell.nodes import Word

# Variables that name a program which other programs start.
HELPERS = frozenset(
    "GIT_SSH_COMMAND GIT_SSH GIT_PAGER PAGER MANPAGER GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR"
    " GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER RSYNC_RSH CVS_RSH"
    " GIT_PROXY_COMMAND FCEDIT LESSOPEN LESSCLOSE LESSEDIT".split()
)

SETTINGS = ("GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS")
"""Variables with settings of git in them, of which some name programs."""

LATE = frozenset(("BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4"))
"""Variables whose value bash itself runs."""


def may_run(name: str, value: Word) -> bool:
    """Something may be run by and by because the variable has this value."""
    if name in HELPERS or name in LATE or name.startswith(SETTINGS):
        return True
    text = value.text
    return text is not None and "[" in text and ("$(" in text or "`" in text)


def helping_script(word: Word, skip: int = 0) -> Script:
    """A text that names a helping program: read with its unknown pieces left open."""
    text = joined([word], lenient=True)
    script = Script((text or "")[skip:], [word])
    script.lenient = True
    return script
