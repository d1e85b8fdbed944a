"""Games: turn, history, ko and winners, which a position alone does not know."""
