"""Case files from game records: right, small, varied, and known to catch mistakes.

The way of a position: game records (:mod:`~harness.generating.record_reading`) are replayed
(:mod:`~harness.generating.record_replay`) into moments; a moment has the features that its
assignment looks for (:mod:`~harness.vocabulary.scenes` and a module for each assignment); of
each kind a few are kept (:mod:`~harness.generating.record_reading`); what no game had is made
(:mod:`~harness.vocabulary.made_positions`). A moment and a feature become a scene of commands,
the oracle answers it (:mod:`~harness.generating.scene_production`), the best scenes are chosen
(:mod:`~harness.generating.scene_production`) and written (:mod:`~harness.generating.scene_text`).
"""
