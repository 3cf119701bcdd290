#!/usr/bin/env python3
"""The report of hostile documents in a browser: it loads without a word on the console, runs nothing,
loads nothing, and shows the documents' text as it was written. Ends with 77 where there is no
Chromium. Environment: GROUPERFISH_PROGRAM."""
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
NAME = 'a"><script>console.error("run")</script>'
TEXTS = ['<script>console.error("run")</script> apple apple', '<img src=x onerror=console.error(1)> apple',
         "' onmouseover='alert(1) apple", "</style></title><svg onload=console.error(2)> pear pear",
         "&lt;b&gt; pear <!-- pear", "javascript:alert(1) \u202edesrever\u202c pear", "\x1b[31m river\x07 \ufffd river"]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.text, self.attributes = set(), [], set()

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.attributes.update(name for name, _ in attributes)

    def handle_data(self, data):
        self.text.append(data)


def grouperfish(*words, **more):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, **more)


def main():
    if not BROWSER:
        print("no Chromium: skipped")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GROUPERFISH_STORE"] = os.path.join(folder, "store")
        os.environ["HOME"] = folder
        lines = "".join(json.dumps({"id": f"{i}{NAME}", "text": text}) + "\n"
                        for i, text in enumerate(TEXTS))
        grouperfish("put", NAME, "-", input=lines.encode())
        grouperfish("rebuild", NAME)
        page = os.path.join(folder, "report.html")
        grouperfish("report", NAME, "--docs", "9", "-o", page)
        run = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                              "--dump-dom", "file://" + page], capture_output=True, text=True, timeout=120)
    parsed = Page()
    parsed.feed(run.stdout)
    text = "".join(parsed.text)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert run.returncode == 0, run.stderr
    assert not console, console
    assert not parsed.names & {"script", "img", "iframe", "object", "embed", "form"}, parsed.names
    assert not [name for name in parsed.attributes if name.startswith("on")], parsed.attributes
    assert NAME + ": clusters" in text, text[:300]
    for written in TEXTS[:5]:
        assert written in text, written
    assert "desrever" in text and "\u202e" not in text and "\x1b" not in text
    print("the report is text in", BROWSER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
