"""Manual pages and completions, made of the commands' own options: each option is in them, and the tools that read them do."""

import re
import subprocess
import unittest

from harness import CommandTest, run

COMMANDS = re.findall(r"^  ziggurat (\w+)", run("--help").stdout, re.MULTILINE)


def options(command: str) -> list[str]:
    return re.findall(r"^  (--[a-z0-9-]+)", run("help", command, "--all").stdout, re.MULTILINE)


class Manual(CommandTest):
    def test_each_page_has_each_option_and_no_mistake(self):
        self.assertIn("build", COMMANDS)
        for command in [None, *COMMANDS]:
            page = run("man", *filter(None, [command]))
            self.assertEqual((page.returncode, page.stderr), (0, ""))
            shown = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-P-cbou"], input=page.stdout, capture_output=True, text=True,
                                   env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            # A dash that is typed is a dash, not a hyphen.
            for option in options(command) if command else [f"ziggurat-{name}" for name in COMMANDS]:
                self.assertIn(option, shown.stdout)
        self.assertUsageError(run("man", "bild"), "bild", "build")


class Completions(CommandTest):
    def completed(self, *arguments: str) -> list[str]:
        """What bash offers for the last word."""
        script = run("completions", "bash").stdout + """
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _ziggurat
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        result = subprocess.run(["bash", "-c", script, "bash", *arguments], capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(set(self.completed("ziggurat", "")), {*COMMANDS, "help", "--version"})
        self.assertEqual(self.completed("ziggurat", "ser"), ["serve"])
        self.assertEqual(self.completed("ziggurat", "help", "expo"), ["export"])
        for command in COMMANDS:
            self.assertEqual(set(self.completed("ziggurat", command, "--")), {*options(command), "--help"})
        # Names of files are readline's.
        self.assertEqual(self.completed("ziggurat", "build", "pictures/"), [])

    def test_zsh_and_fish_read_theirs(self):
        for shell in ("zsh", "fish"):
            script = run("completions", shell).stdout
            result = subprocess.run([shell, "-n", "/dev/stdin"], input=script, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for command in COMMANDS:
                for option in options(command):
                    self.assertIn(option if shell == "zsh" else f"-l {option[2:]}", script)
        offered = subprocess.run(["fish", "-c", run("completions", "fish").stdout + "complete -C 'ziggurat build --for'"],
                                 capture_output=True, text=True).stdout
        self.assertRegex(offered, r"(?m)^--format\b.*Tile format")
        self.assertRegex(offered, r"(?m)^--force\b")
        self.assertUsageError(run("completions", "csh"), "csh", "bash")


if __name__ == "__main__":
    unittest.main()
