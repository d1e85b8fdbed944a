"""What is true: the answers of five assignments on Go and Gomoku.

``import oracle`` costs next to nothing: each name below is loaded when it is first used.
"""

from __future__ import annotations
