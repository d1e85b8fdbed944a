"""Answers with the name of its working directory."""

import os

from common import answer, serve

serve(lambda id_, name: answer(id_, os.path.basename(os.getcwd())))
