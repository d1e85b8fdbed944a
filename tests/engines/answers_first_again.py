"""Answers the first command of a case file twice, and computes for 20 ms in between."""

import time

import common


def answer(id_, name):
    common.say(f"={id_} {name}\n\n")
    if name == "first":
        begun = time.process_time()
        while time.process_time() - begun < 0.02:
            pass
        common.say("= another\n\n")


common.answer = answer
common.serve(answer)
