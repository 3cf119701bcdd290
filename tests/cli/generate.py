#!/usr/bin/env python3
"""Manual pages and completions: well-formed, of every command, and completing what is asked."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time

program = os.environ["GROUPERFISH_PROGRAM"]
failures = []


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)


def check(holds, message):
    if not holds:
        failures.append(message)
        print("FAILED:", message)


def generate(*words):
    made = run(program, "generate", *words)
    check(made.returncode == 0, f"generate {words}: {made.stderr}")
    return made.stdout


def has(name):
    if shutil.which(name):
        return True
    print(f"{name} is not installed: not checked with it")
    return False


def commands():
    """Names and meanings of all commands, from the help."""
    text = run(program, "help").stdout.split("For every command")[0]
    return dict(re.findall(r"^  ([a-z][a-z-]*(?: [a-z-]+)?) +([A-Z].*)$", text, re.M))


def option_names(command):
    text = run(program, "help", *command.split()).stdout
    return set(re.findall(r"^  (--?[a-z][a-z-]*)", text, re.M))


def check_man(folder):
    generate("man", "--out", folder)
    names = commands()
    check(len(names) > 60, "help lists the commands")
    expected = {"grouperfish.1"} | {f"grouperfish-{n.replace(' ', '-')}.1" for n in names}
    pages = {p.name: p for p in pathlib.Path(folder).iterdir()}
    check(set(pages) == expected, f"pages: {set(pages) ^ expected}")
    for name in names:
        page = pages[f"grouperfish-{name.replace(' ', '-')}.1"].read_text()
        for option in option_names(name):
            check("\\fB" + option.replace("-", "\\-") + "\\fR" in page, f"page of {name}: {option}")
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS",
                        "ENVIRONMENT", "SEE ALSO"):
            check(f"\n.SH {section}\n" in page, f"page of {name}: {section}")
        check(page == generate("man", *name.split()), f"the page of {name} alone is another")
    check(generate("man") == pages["grouperfish.1"].read_text(), "the program's page alone")
    if has("mandoc"):
        for page in pages.values():
            lint = run("mandoc", "-T", "lint", "-W", "warning", page)
            check(lint.returncode == 0 and not lint.stdout, lint.stdout)
        text = run("mandoc", "-T", "ascii", pages["grouperfish-put.1"]).stdout
        text = re.sub(".\b", "", text)
        check(run(program, "help", "put").stdout.split("Usage")[0].splitlines()[-2].strip() in text,
              "examples stand in the page as in the help")
        check("\\\n               --also '{type}-{product}-{version}'" in text, "backslash and quotes")
    if has("groff"):
        for page in pages.values():
            groff = run("groff", "-man", "-ww", "-z", "-T", "utf8", page)
            check(groff.returncode == 0 and not groff.stderr, groff.stderr)


def check_markdown(folder):
    generate("markdown", "--out", folder)
    names = commands()
    pages = {p.name: p.read_text() for p in pathlib.Path(folder).iterdir()}
    expected = {"grouperfish.md"} | {f"grouperfish-{n.replace(' ', '-')}.md" for n in names}
    check(set(pages) == expected, f"Markdown: {set(pages) ^ expected}")
    for name, meaning in names.items():
        page = pages[f"grouperfish-{name.replace(' ', '-')}.md"]
        check(page.startswith(f"# {name}\n\n"), f"Markdown of {name}: its heading")
        check(f"[{name}](grouperfish-{name.replace(' ', '-')}.md)" in pages["grouperfish.md"], f"{name} is not listed")
        for option in option_names(name):
            check(f"| `{option}" in page, f"Markdown of {name}: {option}")
        check(page.count("```") % 2 == 0, f"Markdown of {name}: a fence is open")
        check(page == generate("markdown", *name.split()), f"the Markdown of {name} alone is another")
    check("[config set](../operations.md#config-set)" in pages["grouperfish-config-set.md"], "link to the operation")
    check("| `POST /v1/collections/{collection}/documents` |" in pages["grouperfish-put.md"], "HTTP")
    check("`config_set`, with `--allow-writes` |" in pages["grouperfish-config-set.md"], "MCP")
    check("The operation" not in pages["grouperfish-serve.md"], "serve is no operation")
    check("| `--by auto\\|hour\\|day" in pages["grouperfish-clusters.md"], "bars in a table")
    check("\n`--min-score` leaves out" in pages["grouperfish-clusters.md"], "options in prose")
    check("[figures.md](../figures.md)" in pages["grouperfish-clusters.md"], "pages in prose")
    check("&#42;" in pages["grouperfish-serve.md"], "a star in prose")


# Words before the cursor, the last one of which is completed; what must be among the answers, and
# what must not be.
CASES = [
    (["pu"], {"put", "publish"}, {"rebuild"}),
    (["", ], {"put", "table", "help", "generate"}, {"table put"}),
    (["table", ""], {"put", "create", "check-and-put"}, {"rebuild"}),
    (["help", "re"], {"rebuild", "repair", "restore", "report"}, {"put"}),
    (["help", "config", "s"], {"set", "show"}, {"list"}),
    (["put", "--fr"], {"--from"}, {"--id"}),
    (["put", "news", "--"], {"--from", "--rejects", "--store", "--format"}, {"--why"}),
    (["put", "news", "--from", ""], {"jsonl", "csv", "papers"}, {"a file.csv", "--id"}),
    (["put", "news", "--from", "cs"], {"csv"}, {"jsonl"}),
    (["put", "news", "--format", "js"], {"json", "jsonl"}, {"table"}),
    (["put", "news", "--rejects", "a"], {"a file.csv"}, set()),
    (["put", "news", "a"], {"a file.csv", "another"}, set()),
    (["put", "news", "--from", "csv", "a"], {"a file.csv"}, set()),
    (["put", "news", "one", "a"], {"a file.csv"}, set()),
    (["doc", "feedback", "--w"], {"--why"}, set()),
    (["doc", ""], {"move", "keep"}, {"merge"}),
    (["cluster", ""], {"merge", "split", "hide", "lock", "set"}, {"move"}),
    (["cluster", "merge", "feedback", "--"], {"--by", "--reason"}, {"--weakest"}),
    (["cluster", "feedback", "--w"], {"--weakest"}, {"--by"}),
    (["", ], {"doc", "cluster"}, {"doc move"}),
    (["rebuild", "--progress", ""], {"auto", "none", "jsonl"}, set()),
    (["table", "import", "users", "a"], {"a file.csv"}, set()),
    (["backup", "a"], {"another"}, {"a file.csv"}),
    (["generate", ""], {"man", "bash", "zsh", "fish"}, set()),
    (["serve", "--log-level", "w"], {"warn"}, {"error"}),
    (["clusters", "feedback", ""], set(), {"a file.csv"}),
    (["nothing", "--"], set(), {"--from"}),
]


def check_answers(shell, words, answers, wanted, unwanted):
    line = " ".join(["grouperfish", *words])
    check(wanted <= answers, f"{shell}: {line}<TAB>: {wanted - answers} missing among {answers}")
    check(not unwanted & answers, f"{shell}: {line}<TAB>: {unwanted & answers}")


def check_bash(script, folder):
    check(run("bash", "-n", script).returncode == 0, "bash reads the script")
    ask = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _grouperfish; '
           'printf "%s\\n" "${COMPREPLY[@]}"; [[ $(complete -p grouperfish) == *_grouperfish* ]]')
    split = (["put", "news", "--from", "=", "cs"], {"csv"}, {"jsonl"}), \
            (["put", "news", "--from", "="], {"csv", "jsonl"}, set()), \
            (["put", "news", "--from", "=", "csv", "a"], {"a file.csv"}, set()), \
            (["put", "--id", "x", "a"], set(), {"a file.csv"})
    for words, wanted, unwanted in CASES + list(split):
        asked = run("bash", "--norc", "-c", ask, "bash", script, "grouperfish", *words, cwd=folder)
        check(asked.returncode == 0 and not asked.stderr, f"bash: {words}: {asked.stderr}")
        check_answers("bash", words, set(asked.stdout.splitlines()), wanted, unwanted)
    names = commands()
    for name in names:
        asked = run("bash", "--norc", "-c", ask, "bash", script, "grouperfish", *name.split(), "-")
        missing = option_names(name) - set(asked.stdout.splitlines())
        check(not missing, f"bash: {name}: {missing} missing")


# Start of a shell in which a key writes the answers to a file in place of completing.
ZSHRC = r"""
PS1=
unsetopt prompt_sp
fpath=($MADE $fpath)
autoload -U compinit
compinit -u -D
compadd() {
    if (( ! ${@[(I)-O|-A|-D]} )); then
        local -a hits
        builtin compadd -O hits "$@"
        [[ -n $hits ]] && print -rl -- $hits >> $ANSWERS
    fi
    builtin compadd "$@"
}
complete-all() { _main_complete; compstate[insert]= compstate[list]= }
zle -C complete-all complete-word complete-all
ask() { zle complete-all; BUFFER=; print -r -- '<end>' >> $ANSWERS }
zle -N ask
bindkey '^X' ask
zle-line-init() { print -r -- '<end>' >> $ANSWERS; zle -D zle-line-init }
zle -N zle-line-init
"""


def check_zsh(script, folder):
    check(run("zsh", "-n", script).returncode == 0, "zsh reads the script")
    check(pathlib.Path(script).read_text().startswith("#compdef grouperfish\n"), "#compdef")
    home = pathlib.Path(script).parent / "zsh"
    home.mkdir()
    (home / ".zshrc").write_text(ZSHRC)
    answers = home / "answers"
    answers.write_text("")
    shell_end, other_end = pty.openpty()
    shell = subprocess.Popen(["zsh", "-i"], stdin=other_end, stdout=other_end, stderr=other_end,
                             cwd=folder, start_new_session=True,
                             env=dict(os.environ, ZDOTDIR=str(home), TERM="dumb", COLUMNS="200",
                                      MADE=str(pathlib.Path(script).parent), ANSWERS=str(answers)))

    def answers_of(n):
        """The n-th answers; nothing where the shell does not come to their end."""
        until = time.monotonic() + 60
        while answers.read_text().count("<end>\n") <= n and time.monotonic() < until:
            if select.select([shell_end], [], [], 0.02)[0]:
                os.read(shell_end, 65536)  # what it draws
        parts = answers.read_text().split("<end>\n")
        check(len(parts) > n + 1, "zsh does not answer")
        return set(parts[n].splitlines())

    try:
        answers_of(0)
        for n, (words, wanted, unwanted) in enumerate(CASES):
            os.write(shell_end, " ".join(["grouperfish", *words]).encode() + b"\x18")
            got = {a.strip().replace("\\ ", " ").rstrip("=") for a in answers_of(n + 1)}
            check_answers("zsh", words, got, wanted, unwanted)
    finally:
        shell.kill()
        shell.wait()
        os.close(shell_end)
        os.close(other_end)


def check_fish(script, folder):
    check(run("fish", "-n", script).returncode == 0, "fish reads the script")
    for words, wanted, unwanted in CASES:
        line = " ".join(["grouperfish", *words])
        asked = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'", cwd=folder)
        check(asked.returncode == 0 and not asked.stderr, f"fish: {words}: {asked.stderr}")
        answers = {a.split("\t")[0].replace("\\ ", " ").rstrip("/") for a in asked.stdout.splitlines()}
        check_answers("fish", words, answers, wanted, unwanted)


def check_refused():
    for words, code, message in (
            ([], 2, "man|markdown|bash|zsh|fish is missing"),
            (["csh"], 2, 'kind: "csh" is none of man|markdown|bash|zsh|fish'),
            (["man", "putt"], 2, 'there is no command "putt"'),
            (["bash", "put"], 2, "COMMAND is for pages without --out"),
            (["man", "--out", "/dev/null/pages"], 6, "cannot make /dev/null/pages")):
        made = run(program, "generate", *words)
        check(made.returncode == code and message in made.stderr, f"generate {words}: {made}")


def main():
    with tempfile.TemporaryDirectory() as top:
        made, folder = pathlib.Path(top, "made"), pathlib.Path(top, "folder")
        folder.mkdir()
        pathlib.Path(folder, "another").mkdir()
        pathlib.Path(folder, "a file.csv").write_text("")
        os.environ["HOME"] = top
        made.mkdir()
        check_refused()
        check_man(str(made / "man1"))
        check_markdown(str(made / "markdown"))
        for shell, name, checks in (("bash", "grouperfish", check_bash),
                                    ("zsh", "_grouperfish", check_zsh),
                                    ("fish", "grouperfish.fish", check_fish)):
            generate(shell, "--out", str(made))
            script = made / name
            check(script.read_text() == generate(shell), f"{shell}: a file and the output differ")
            if has(shell):
                checks(str(script), folder)
    raise SystemExit(1 if failures else 0)


main()
