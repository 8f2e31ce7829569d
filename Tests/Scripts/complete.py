"""Types command lines into a shell on a terminal and presses Tab: complete.py SHELL PROGRAM SCRIPT FOLDER LINE...

PROGRAM is ffmount, SCRIPT what completes it, FOLDER the working folder. Prints for each beginning of a line what the line
editor holds after Tab, between `<` and `>`.
"""

import os
import pty
import re
import select
import signal
import sys
import tempfile

SHELL, PROGRAM, SCRIPT, FOLDER, *LINES = sys.argv[1:]
# Ctrl-T: the shell prints its buffer.
SHOW = "\x14"
# Starts each shell without anybody's own settings, and makes it say `ready`.
START = {
    "bash": """
        . /usr/share/bash-completion/bash_completion
        . {script}
        bind -x '"\\C-t": printf "<%s>\\n" "$READLINE_LINE"'
        bind 'set bell-style none'
        PS1=; echo rea''dy
        """,
    "zsh": """
        fpath=({home} $fpath); autoload -Uz compinit; compinit -u -D
        show() {{ print -r -- "<$BUFFER>" }}; zle -N show; bindkey '^T' show
        unsetopt zle_bracketed_paste beep; PS1=; echo rea''dy
        """,
    "fish": """
        source {script}
        bind \\ct 'echo "<"(commandline)">"'
        function fish_prompt; end
        echo rea''dy
        """,
}
ARGUMENTS = {
    "bash": ["bash", "--noprofile", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, home):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            path = f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"
            os.environ.update(TERM="xterm", HOME=home, LC_ALL="C.UTF-8", XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, PATH=path)
            os.chdir(FOLDER)
            os.execvp(SHELL, ARGUMENTS[SHELL])
        self.said = ""

    def write(self, text):
        os.write(self.descriptor, text.encode())

    def read_until(self, pattern):
        """Reads up to a match, which it gives; what is behind it is kept."""
        while not (match := re.search(pattern, self.said)):
            if not select.select([self.descriptor], [], [], 20)[0]:
                sys.exit(f"{SHELL} does not answer; it said {self.said!r}")
            self.said += os.read(self.descriptor, 65536).decode(errors="replace")
        self.said = self.said[match.end():]
        return match

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def main():
    with tempfile.TemporaryDirectory() as home:
        # As zsh finds it by name.
        os.symlink(SCRIPT, f"{home}/_ffmount")
        terminal = Terminal(home)
        try:
            for line in START[SHELL].format(script=SCRIPT, home=home).strip().splitlines():
                terminal.write(line.strip() + "\n")
            terminal.read_until("ready\r")
            for line in LINES:
                # Ctrl-U empties the line for the next one.
                terminal.write(f"{line}\t{SHOW}")
                print(terminal.read_until(r"<([^\r\n]*)>\r?\n")[0].strip(), flush=True)
                terminal.write("\x15")
        finally:
            terminal.close()


main()
