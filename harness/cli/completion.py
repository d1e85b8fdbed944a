"""``gtp-harness completion``: what a shell needs to complete its command lines."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from harness.cli import man
from harness.cli.commandline import Command
from harness.cli.man import CASES, FILES, FOLDERS, PROGRAMS, CommandHelp, Value
from harness.errors import ExitCode

_PAGE = """\
usage: gtp-harness completion SHELL

Print a script with which a shell completes the command lines of gtp-harness: commands,
options, their values, files, and the names of cases that ship. It is made for this
version: print it again after an update.

[options]

Where to put it:
  bash  ~/.local/share/bash-completion/completions/gtp-harness
  zsh   _gtp-harness in a folder of $fpath
  fish  ~/.config/fish/completions/gtp-harness.fish

Exit status:
    0  printed
    2  the shell is unknown

Examples:
  gtp-harness completion bash > ~/.local/share/bash-completion/completions/gtp-harness
  source <(gtp-harness completion bash)"""


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.shell:
        COMPLETION.refuse(f"give SHELL: {', '.join(_SHELLS)}")
    print("\n".join(_SHELLS[arguments.shell](man.describe_commands())))
    return ExitCode.OK


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("shell", nargs="?", choices=tuple(_SHELLS), metavar="SHELL", help="bash, zsh or fish")


# --- bash --------------------------------------------------------------------------------------

# Bash cuts words at @ and =. So the line is cut at blanks here, and of what is offered the part is
# left out that bash does not mean to replace.
_BASH = """\
# bash completion for gtp-harness: made by gtp-harness completion bash
_gtp_harness_offer() {  # KIND WORDS: offer what begins with $word
    case $1 in
        files | cases) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames ;;
        folders) mapfile -t COMPREPLY < <(compgen -d -- "$word"); compopt -o filenames ;;
        programs) mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word") ;;
    esac 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$2" -- "$word")
}
_gtp_harness() {
    local line=${COMP_LINE:0:COMP_POINT} words word previous command count=0 place cut
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[-1]} previous=${words[-2]} command=${words[1]}
    COMPREPLY=()
    if ((${#words[@]} == 2)); then
        _gtp_harness_offer "" "@COMMANDS@ help --help --version"
    else
        if [[ $command == help ]]; then
            _gtp_harness_offer "" "@COMMANDS@"
        elif [[ $word == --*=* ]]; then
            previous=${word%%=*} word=${word#*=}
        fi
        for ((place = 2; place < ${#words[@]} - 1; place++)); do
            case "$command ${words[place]}" in
                @VALUED@) ((place++)) ;;
                *" -"*) ;;
                *) ((count++)) ;;
            esac
        done
        case "$command $previous" in
@VALUES@
            *) [[ $word == -* ]] && previous=- || previous=$count
                case "$command $previous" in
@WORDS@
                esac ;;
        esac
    fi
    cut=${word%"${word##*[@=:]}"}
    if [[ -n $cut && $COMP_WORDBREAKS == *"${cut: -1}"* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    fi
}
complete -F _gtp_harness gtp-harness"""


def _bash(commands: list[CommandHelp]) -> Iterator[str]:
    valued, values, words = [], [], []
    for one in commands:
        for option in one.options:
            if option.value:
                names = [f'"{one.name} {name}"' for name in option.names]
                valued += names
                offer = _bash_offer(option.value)
                values.append(f"            {' | '.join(names)}) {offer} ;;")
        # What may stand for an option, and at each place of an argument.
        listed = " ".join(name for option in one.options for name in option.names)
        words.append(f'"{one.name} -") {_bash_offer(Value("", "", (listed,)))} ;;')
        for place, value in enumerate(one.arguments):
            pattern = "*" if place == len(one.arguments) - 1 else str(place)
            words.append(f'"{one.name} "{pattern}) {_bash_offer(value)} ;;')
    parts = {
        "COMMANDS": " ".join(one.name for one in commands),
        "VALUED": " | ".join(valued),
        "VALUES": "\n".join(values),
        "WORDS": "\n".join(" " * 20 + line for line in words),
    }
    yield re.sub("@([A-Z]+)@", lambda found: parts[found[1]], _BASH)


def _bash_offer(value: Value) -> str:
    words = shlex.quote(" ".join(_words(value)))
    return f'_gtp_harness_offer "{value.kind}" {words}'


def _words(value: Value) -> tuple[str, ...]:
    return (*value.words, *(man.cases() if value.kind == CASES else ()))


# --- zsh ---------------------------------------------------------------------------------------

_ZSH = """\
#compdef gtp-harness
# zsh completion for gtp-harness: made by gtp-harness completion zsh
_gtp_harness_cases() {
    _alternative 'names:cases that ship:(@CASES@)' 'files:case file:_files'
}
_gtp_harness_or_folder() {  # _arguments puts options of compadd before the names
    local -a names=(${@:#-*})
    _alternative "names:name:($names)" 'folders:folder:_files -/'
}
_gtp_harness_programs() {
    _alternative 'commands:program:_command_names -e' 'files:program:_files'
}
_gtp_harness() {
    local curcontext=$curcontext state line
    local -a commands=(
@COMMANDS@
    )
    _arguments -C '1:command:->command' '*::argument:->arguments' && return
    if [[ $state == command ]]; then
        _describe command commands
        return
    fi
    curcontext=${curcontext%:*:*}:gtp-harness-$words[1]:
    case $words[1] in
        help) _describe command commands ;;
@ARGUMENTS@
    esac
}
if [[ $funcstack[1] == _gtp-harness ]]; then
    _gtp_harness "$@"
else
    compdef _gtp_harness gtp-harness
fi"""
_ZSH_KINDS = {
    FILES: "_files",
    FOLDERS: "_files -/",
    PROGRAMS: "_gtp_harness_programs",
    CASES: "_gtp_harness_cases",
}


def _zsh(commands: list[CommandHelp]) -> Iterator[str]:
    arguments = []
    for one in commands:
        arguments.append(f"        {one.name}) _arguments \\")
        for option in one.options:
            about = re.sub(r"([\[\]\\])", r"\\\1", option.help)
            for name in option.names:
                told = f"{name}[{about}]"
                if option.value:
                    equals = "=" if name.startswith("--") else ""
                    told = f"*{name}{equals}[{about}]{_zsh_value(option.value)}"
                arguments.append(f"            {_zsh_quote(told)} \\")
        for place, value in enumerate(one.arguments):
            number = "*" if place == len(one.arguments) - 1 else str(place + 1)
            arguments.append(f"            {_zsh_quote(f'{number}{_zsh_value(value)}')} \\")
        arguments.append("            && return ;;")
    summaries = (_zsh_quote(f"{one.name}:{one.summary}") for one in commands)
    parts = {
        "CASES": " ".join(man.cases()),
        "COMMANDS": "\n".join(f"        {summary}" for summary in summaries),
        "ARGUMENTS": "\n".join(arguments),
    }
    yield re.sub("@([A-Z]+)@", lambda found: parts[found[1]], _ZSH)


def _zsh_value(value: Value) -> str:
    if value.kind == FOLDERS and value.words:
        action = f"_gtp_harness_or_folder {' '.join(value.words)}"
    elif value.words:
        action = f"({' '.join(value.words)})"
    else:
        action = _ZSH_KINDS.get(value.kind, "")
    return f":{value.name}:{action}"


def _zsh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --- fish --------------------------------------------------------------------------------------


def _fish(commands: list[CommandHelp]) -> Iterator[str]:
    yield "# fish completion for gtp-harness: made by gtp-harness completion fish"
    listed = " ".join(one.name for one in commands)
    first = "complete -c gtp-harness -n __fish_use_subcommand -f"
    for one in commands:
        yield f"{first} -a {one.name} -d {_fish_quote(one.summary)}"
    yield f"{first} -a help -d {_fish_quote('tell more about a command')}"
    yield f"complete -c gtp-harness -n '__fish_seen_subcommand_from help' -f -a '{listed}'"
    for one in commands:
        begin = f"complete -c gtp-harness -n '__fish_seen_subcommand_from {one.name}'"
        for option in one.options:
            taken, value = "", option.value
            if value and value.kind == FOLDERS:
                offer = _fish_offer((*value.words, "(__fish_complete_directories)"))
                taken = f" -x{offer}"
            elif value:
                is_file = " -r -F" if value.kind else " -x"
                taken = f"{is_file}{_fish_offer(_words(value))}"
            names = " ".join(map(_fish_name, option.names))
            yield f"{begin} {names}{taken} -d {_fish_quote(option.help)}"
        words = [word for value in one.arguments for word in _words(value)]
        if any(value.kind == PROGRAMS for value in one.arguments):
            words.append("(__fish_complete_command)")
        has_files = any(value.kind for value in one.arguments)
        yield f"{begin} {'-F' if has_files else '-f'}{_fish_offer(words)}"


def _fish_name(name: str) -> str:
    """Return how fish is told a name: long, old style with one dash, or a letter."""
    if name.startswith("--"):
        return f"-l {name[2:]}"
    return f"-s {name[1:]}" if len(name) == 2 else f"-o {name[1:]}"


def _fish_offer(words: Sequence[str]) -> str:
    return f" -a {_fish_quote(' '.join(words))}" if words else ""


def _fish_quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SHELLS: dict[str, Callable[[list[CommandHelp]], Iterator[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}


COMPLETION = Command("completion", _PAGE, _add_options, _run)
