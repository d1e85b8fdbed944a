"""An engine that does as it is told: what it sends, and how it ends, is in the command.

``say TEXT`` answers TEXT, ``fail TEXT`` refuses with it, ``raw TEXT`` sends bytes as Python writes
them, ``warn TEXT`` writes to standard error, ``die N`` ends with a status, ``next WORDS`` answers
another of them each time, in whatever process.
"""

import os
import sys


def send(data):
    os.write(1, data)


for line in sys.stdin.buffer:
    words = line.decode().split(" ", 2 if line[:1].isdigit() else 1)
    number = words.pop(0) if words[0].strip().isdigit() else ""
    name, text = words[0].strip(), words[1].rstrip("\n") if len(words) > 1 else ""
    if name == "die":
        os._exit(int(text))
    if name == "warn":
        os.write(2, text.encode() + b"\n")
        text = ""
    if name == "next":
        with open("asked", "a+b") as asked:
            asked.write(b".")
            text = text.split()[asked.tell() % len(text.split())]
    if name == "name":
        text = "Told & <so>"
    if name == "version":
        text = "1.5"
    if name == "raw":
        send(eval(f'b"{text}"').replace(b"ID", number.encode()))
    else:
        sign = "?" if name == "fail" else "="
        send(f"{sign}{number} {text}\n\n".encode())
    if name == "quit":
        break
