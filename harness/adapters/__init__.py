"""Adapters: GTP engines for programs that do not speak GTP.

``adapter`` says which there are and what an assignment may tell them, and puts one beside a
submission. ``inside`` is what then runs in the box, where neither the harness nor the oracle is
to be seen: it imports nothing of them, and knows no answers.
"""
