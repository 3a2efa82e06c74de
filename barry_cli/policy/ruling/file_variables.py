"""Variables whose value is a file that the program they are given to reads or writes."""

from barry_cli.policy.ruling.file_use import CHANGE, READ, TOUCH, WRITE, FileUse
from barry_cli.policy.ruling.operands import after
from barry_cli.policy.ruling.programs.call import Call
from barry_cli.policy.ruling.shell.reading import Word

_KINDS = {
    READ: """BASH_ENV ENV INPUTRC PYTHONSTARTUP PERL5DB WGETRC NETRC KUBECONFIG PGPASSFILE
        PGSERVICEFILE AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE GOOGLE_APPLICATION_CREDENTIALS
        DOTENV_CONFIG_PATH ENV_FILE SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
        NODE_EXTRA_CA_CERTS PIP_CONFIG_FILE PIP_REQUIREMENT SSHPASS_FILE RIPGREP_CONFIG_PATH
        VAULT_TOKEN_FILE SOPS_AGE_KEY_FILE MYSQL_TEST_LOGIN_FILE GREP_PATTERN_FILE LD_PRELOAD
        MAKEFILES""",
    WRITE: """HISTFILE GIT_INDEX_FILE NODE_V8_COVERAGE COVERAGE_FILE LLVM_PROFILE_FILE GOCOVERDIR
        GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_TRACE_PACKET GIT_TRACE_PACKFILE
        GIT_TRACE_PERFORMANCE GIT_TRACE_SETUP GIT_TRACE_SHALLOW GIT_TRACE_CURL SSLKEYLOGFILE
        GIT_TRACE_FSMONITOR GIT_TRACE_REFS NODE_REDIRECT_WARNINGS CARGO_TARGET_DIR GOBIN GOPATH
        GOCACHE GOMODCACHE TMPDIR npm_config_cache NPM_CONFIG_CACHE PIP_CACHE_DIR PIP_TARGET
        PIP_PREFIX PYTHONPYCACHEPREFIX PYTHONUSERBASE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR
        CARGO_INSTALL_ROOT DESTDIR""",
    TOUCH: """GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM NPM_CONFIG_USERCONFIG
        npm_config_userconfig NPM_CONFIG_GLOBALCONFIG npm_config_globalconfig""",
    CHANGE: "GIT_DIR GIT_WORK_TREE",
}
KIND = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def variables(call: Call) -> list[FileUse]:
    """The files in `NAME=value program` and `env NAME=value program`."""
    found = [
        _use(assignment.name, assignment.value)
        for assignment in call.command.assignments
        if assignment.value is not None and assignment.name in KIND
    ]
    for word in call.words[1:] if call.name in {"env", "export", "declare"} else ():
        name, equals, _ = word.prefix.partition("=")
        if equals and name in KIND:
            found.append(_use(name, after(word, len(name) + 1)))
    return found


def _use(name: str, value: Word) -> FileUse:
    """It may as well be a number or a switch, and what it is used for isn't told."""
    return FileUse(KIND[name], value, name).unsure()
