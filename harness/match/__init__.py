"""Matches: engines play whole games, the oracle or a game's reference is the referee.

Schedule → games, each in a process of its own → a journal → ratings and a decision → reports. An
engine's own opinion on rules and score is only compared. A crash, a hang, an illegal move loses
the one game; what the harness itself fails at is played again.
"""
