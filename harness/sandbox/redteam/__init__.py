"""A red team: hostile programs sent through the real sandbox, and a referee who trusts none.

* ``attacks``: the programs, which run inside; some in C and Java;
* ``scene``: what they attack, and the witnesses of their success;
* ``attack_table``: the list of attacks, with the layer that is to stop each;
* ``referee``: runs them and judges.
"""
