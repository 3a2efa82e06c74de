"""The server from a shell."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from barry_cli.verify.models import ModelServer

RUN = [sys.executable, "-m", "barry_cli.verify.models"]


def fails(*options: str) -> str:
    done = subprocess.run([*RUN, *options], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serves_until_a_signal(tmp_path, number):
    script = tmp_path / "script.toml"
    script.write_text('[[rules]]\nwhen = "hello"\nthen = ["hi"]\n')
    log = tmp_path / "log.ndjson"
    with subprocess.Popen(
        [*RUN, "--script", str(script), "--log", str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            line = json.loads(process.stdout.readline())
            assert line["schema"] == 1
            url = line["urls"]["openai-chat"]
            assert url == f"http://127.0.0.1:{line['port']}/v1"
            body = {"messages": [{"role": "user", "content": "hello"}]}
            request = urllib.request.Request(
                url + "/chat/completions",
                json.dumps(body).encode(),
                {"content-type": "application/json", "authorization": "Bearer x"},
            )
            with urllib.request.urlopen(request, timeout=10) as response:
                answer = json.load(response)
            assert answer["choices"][0]["message"]["content"] == "hi"
            process.send_signal(number)
            rest, errors = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, rest, errors) == (0, "", "")
    assert json.loads(log.read_text())["text"] == "hello"


def test_a_slow_answer_does_not_hold_the_end(tmp_path):
    script = tmp_path / "script.json"
    step = {"text": "x", "delay": 60}
    script.write_text(json.dumps({"rules": [{"when": "", "then": [step], "always": True}]}))
    with subprocess.Popen([*RUN, "--script", str(script)], stdout=subprocess.PIPE) as process:
        try:
            port = json.loads(process.stdout.readline())["port"]
            import socket

            with socket.create_connection(("127.0.0.1", port), 5) as link:
                body = b'{"messages": [{"role": "user", "content": "x"}]}'
                head = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
                link.sendall(head % len(body) + body)
                time.sleep(0.3)
                process.terminate()
                assert process.wait(5) == 0
        finally:
            process.kill()


def test_one_clear_sentence_for_what_can_not_be_used(tmp_path):
    script = tmp_path / "script.json"
    assert fails("--script", str(script)) == f"{script} can't be read: No such file or directory.\n"
    script.write_text("{")
    assert fails("--script", str(script)).startswith(f"{script} is not valid JSON: ")
    script.write_text('{"rules": [{"when": "x", "then": [{"nope": 1}]}]}')
    sentence = fails("--script", str(script))
    assert sentence == (
        f"{script} is not a usable script: rules.0.then.0: "
        "a step needs one of text, tool, tools, status, drop.\n"
    )
    assert fails("--log", str(tmp_path)) == f"The log {tmp_path} can't be opened: Is a directory.\n"
    with ModelServer() as server:
        sentence = fails("--port", str(server.port))
    assert f"Port {server.port} on 127.0.0.1 can't be used: Address already in use" in sentence
    assert "a port is a number from 0 to 65535" in fails("--port", "70000")
    assert "a port is a number" in fails("--port", "x")


def test_help_says_what_it_is():
    done = subprocess.run([*RUN, "--help"], capture_output=True, text=True, timeout=30, check=True)
    assert "scripted model APIs on 127.0.0.1" in done.stdout
